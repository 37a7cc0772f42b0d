// Beside the conversation: the ledger, plots, records, options, slices, and what another vendor would refuse.

import { type ComponentChildren, type VNode } from "preact";
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { type Fields } from "./fold";
import { type Call, type CallState, stateOf } from "./story";
import { GLYPHS } from "./call";
import { Icon } from "./icons";
import { Pre } from "./code";
import { Virtual } from "./virtual";
import { Visible } from "./visible";
import { count, money, oneLine, seconds } from "./text";
import { api } from "./api";
import { offer, quoted, readOnly, reveal, route, scrub, shown, story } from "./state";

const TABS = ["ledger", "plots", "records", "options", "slices", "lint"] as const;
export type Tab = (typeof TABS)[number];
export const tab = signal<Tab>("ledger");

const COMMANDS: { [tab in Tab]: [string, string] } = {
  ledger: ["show ID --ledger", "the ledger"], plots: ["tokens ID", "tokens by turn"], records: ["tail ID", "the records"],
  options: ["show ID --json", "the whole document"], slices: ["show ID --json", "the whole document"], lint: ["lint ID --for TARGET", "lint for another vendor"],
};

export function openTab(name: Tab, session: string): void {
  tab.value = name;
  offer(COMMANDS[name][0].replace("ID", quoted(session)), COMMANDS[name][1]);
}

export const tabAt = (index: number): Tab | undefined => TABS[index];

export function Inspector({ session }: { session: string }): VNode {
  const needs = [...shown.value.calls.values()].filter((call) => ATTENTION.includes(stateOf(call, shown.value))).length;
  const tabs: readonly Tab[] = readOnly.value && route.value.page === "file" ? TABS.filter((name) => name !== "lint") : TABS;
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = tabs[(tabs.indexOf(tab.value) + by + tabs.length) % tabs.length];
    openTab(next, session);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <aside class="insp" aria-label="Inspector">
      <div class="tabs" role="tablist" onKeyDown={onKey}>
        {tabs.map((name) => (
          <button role="tab" id={`tab-${name}`} aria-selected={tab.value === name} aria-controls="pane" tabIndex={tab.value === name ? 0 : -1} onClick={() => openTab(name, session)}>
            {name[0].toUpperCase() + name.slice(1)}{name === "ledger" && needs > 0 && <sup>{needs}</sup>}
          </button>
        ))}
      </div>
      <div class="pane" id="pane" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}>{PANES[tab.value](session)}</div>
    </aside>
  );
}

const PANES: { [tab in Tab]: (session: string) => ComponentChildren } = {
  ledger: () => <Ledger />, plots: () => <Plots />, records: () => <Records />,
  options: () => <Options />, slices: () => <Slices />, lint: (session) => <Lint session={session} />,
};

const ATTENTION: CallState[] = ["waits", "unsure"];

function groupOf(call: Call): number {
  const state = stateOf(call, shown.value);
  if (ATTENTION.includes(state)) return 0;
  if (state === "begun" || state === "open") return 1;
  return call.kills.length ? 2 : 3;
}

const GROUPS = ["Needs you", "Running", "Was open at a kill", "Settled without incident"];

export function Ledger(): VNode {
  const calls = [...shown.value.calls.values()];
  const known = calls.map((call) => stateOf(call, shown.value));
  const sums: [string, number][] = [
    ["intended", calls.filter((call) => call.intents.length).length],
    ["settled", calls.filter((call) => call.settled || call.result).length],
    ["unsure", known.filter((state) => state === "unsure").length],
    ["waits", known.filter((state) => state === "waits").length],
  ];
  if (!calls.length) return <p class="lead">No tool was called.</p>;
  return (
    <>
      <div class="sum">{sums.map(([name, n]) => <div><b class={n && (name === "unsure" || name === "waits") ? "need" : ""}>{n}</b><span>{name}</span></div>)}</div>
      <table class="led">
        <colgroup><col /><col class="c-ef" /><col class="c-tr" /><col class="c-kn" /></colgroup>
        <thead><tr><th scope="col">Call</th><th scope="col">Effect</th><th scope="col">Tries</th><th scope="col">What is known</th></tr></thead>
        {GROUPS.map((name, index) => {
          const members = calls.filter((call) => groupOf(call) === index);
          return members.length > 0 && <tbody><tr class="grp"><td colSpan={4}>{name}</td></tr>{members.slice(0, 400).map((call) => <LedgerRow call={call} />)}{members.length > 400 && <tr class="grp"><td colSpan={4}>and {members.length - 400} more</td></tr>}</tbody>;
        })}
      </table>
    </>
  );
}

function LedgerRow({ call }: { call: Call }): VNode {
  const state = stateOf(call, shown.value);
  const [glyph, word, tone] = GLYPHS[state];
  const looked = call.kills.length > 0 && call.settled && call.intents.length === 1;
  const lasted = call.settled?.seconds;
  const text = looked ? `settled at ${call.settled?.seq}, looked up and not repeated` : `${word}${lasted !== undefined ? `, ${seconds(Number(lasted))}` : ""}`;
  return (
    <tr class={ATTENTION.includes(state) ? "h" : ""} onClick={() => reveal(call.at.seq)}>
      <td><b><Icon name={glyph} tone={tone} /><button onClick={() => reveal(call.at.seq)}><Visible text={oneLine(call.name, 40)} /></button></b><small><Visible text={oneLine(call.id, 40)} /> · t{call.turn + 1}</small></td>
      <td>{call.effect ?? ""}</td><td>{call.intents.length}</td><td>{tone === "need" ? <strong class="need">{text}</strong> : text}</td>
    </tr>
  );
}

interface Series { name: string; css: string; of: (turn: Fields) => number }

function Plots(): VNode {
  const turns = shown.value.session.turns;
  const usage = (key: string) => (turn: Fields) => Number(turn.usage?.[key] ?? 0);
  const tokens: Series[] = [
    { name: "cache read", css: "f3", of: usage("cached_read") }, { name: "cache write", css: "f2", of: usage("cached_write") },
    { name: "other input", css: "f1", of: (turn) => Math.max(0, usage("input")(turn) - usage("cached_read")(turn) - usage("cached_write")(turn)) },
    { name: "output", css: "f4", of: usage("output") },
  ];
  return (
    <>
      <Plot title="Tokens by turn" total={count(sum(turns, usage("input")) + sum(turns, usage("output")))} series={tokens} turns={turns} show={count} />
      <Plot title="Cost by turn" total={money(shown.value.session.usage.cost ?? sum(turns, usage("cost")))} series={[{ name: "cost", css: "f1", of: usage("cost") }]} turns={turns} show={money} />
      <Plot title="Seconds by turn" total={seconds(sum(turns, (turn) => Number(turn.timing?.seconds ?? 0)))} series={[{ name: "seconds", css: "f2", of: (turn) => Number(turn.timing?.seconds ?? 0) }]} turns={turns} show={seconds} />
      <Plot title="Context size" total={count(Math.max(0, ...turns.slice(-1).map(usage("input"))))} series={[{ name: "input tokens", css: "f1", of: usage("input") }]} turns={turns} show={count} />
    </>
  );
}

const sum = (turns: Fields[], of: (turn: Fields) => number): number => turns.reduce((total, turn) => total + of(turn), 0);

/** At most this many bars; more turns are drawn as means of neighbours. */
const BARS = 120;

function Plot({ title, total, series, turns, show }: { title: string; total: string; series: Series[]; turns: Fields[]; show: (value: number) => string }): VNode {
  const step = Math.max(1, Math.ceil(turns.length / BARS));
  const groups = Array.from({ length: Math.ceil(turns.length / step) }, (_, index) => turns.slice(index * step, (index + 1) * step));
  const stacks = groups.map((group) => series.map((one) => sum(group, one.of) / group.length));
  const top = Math.max(...stacks.map((stack) => stack.reduce((a, b) => a + b, 0)), 0);
  const kills = story.value.tears.map((tear) => story.value.turns.findIndex((turn) => turn.last.seq >= tear.resumed.started.seq)).filter((at) => at >= 0);
  return (
    <section class="plot">
      <header><b>{title}</b><span>{total}</span></header>
      {top === 0 ? <p class="lead">Nothing was counted.</p> : (
        <svg role="img" aria-label={`${title}: ${turns.length} turns, at most ${show(top)}`}>
          {stacks.map((stack, index) => {
            let y = 88;
            return stack.map((value, at) => {
              const height = (value / top) * 80;
              y -= height;
              return height > 0 && <rect class={series[at].css} x={`${(index / stacks.length) * 100}%`} width={`${Math.max(0.3, (100 / stacks.length) * 0.8)}%`} y={y} height={height}><title>{`turn ${index * step + 1}: ${series[at].name} ${show(value)}`}</title></rect>;
            });
          })}
          {kills.map((at) => <line class="kx" x1={`${(at / step / stacks.length) * 100}%`} x2={`${(at / step / stacks.length) * 100}%`} y1="2" y2="88" />)}
          <line class="ax" x1="0" x2="100%" y1="88" y2="88" /><text x="100%" y="9" text-anchor="end">{show(top)}</text>
        </svg>
      )}
      {series.length > 1 && <div class="leg">{series.map((one) => <span><svg><rect class={one.css} width="9" height="9" /></svg>{one.name}</span>)}</div>}
    </section>
  );
}

function Records(): VNode {
  const entries = story.value.entries;
  const kills = new Set(story.value.tears.map((tear) => tear.resumed.started.seq));
  const [open, setOpen] = useState<number | undefined>(undefined);
  const last = scrub.value ?? Infinity;
  const rows = entries.map((entry) => ({
    key: `r${entry.seq}`,
    height: 26,
    render: () => (
      <>
        {kills.has(entry.seq) && <p class="kill">killed; nobody wrote a record here</p>}
        <button class={`rec${entry.seq === scrub.value ? " on" : ""}${entry.seq > last ? " fut" : ""}`} aria-expanded={open === entry.seq} onClick={() => { setOpen(open === entry.seq ? undefined : entry.seq); reveal(entry.seq); }}>
          <span>{entry.seq}</span><span>{entry.event.type}</span><span><Visible text={oneLine(gist(entry.event), 120)} /></span>
        </button>
        {open === entry.seq && <Pre text={JSON.stringify({ seq: entry.seq, time: entry.time, run: entry.run, ...entry.event }, null, 2).slice(0, 40_000)} />}
      </>
    ),
  }));
  return <div class="recs"><Virtual rows={rows} scroller={() => document.getElementById("pane") ?? document.documentElement} /></div>;
}

function gist(event: Fields): string {
  const block = event.block;
  if (block) return `${block.author} ${block.type} ${block.text ?? block.name ?? ""}`;
  return String(event.call ?? event.model ?? event.status?.state ?? event.cause ?? event.name ?? event.line ?? event.run?.id ?? "");
}

function Options(): VNode {
  const { session } = shown.value;
  const head: Fields = { ...session.options };
  const facts: [string, unknown][] = [
    ["id", session.id], ["agent", session.agent], ["parent", session.parent?.session], ["created", session.timing?.created],
    ...Object.entries(head), ...Object.entries(session.metadata ?? {}).map(([key, value]): [string, unknown] => [`metadata.${key}`, value]),
  ];
  return (
    <>
      <h3>Options</h3>
      <dl class="kv">{facts.filter(([, value]) => value !== undefined && value !== null).map(([key, value]) => <><dt><Visible text={key} /></dt><dd class="mono"><Visible text={oneLine(typeof value === "string" ? value : JSON.stringify(value), 300)} /></dd></>)}</dl>
      <h3 class="gap-t">Tools</h3>
      {(session.tools ?? []).length === 0 && <p class="lead">The model was told of no tools.</p>}
      {(session.tools ?? []).map((tool: Fields) => <details class="think"><summary><Icon name="chev" tone="chev" /><code><Visible text={oneLine(tool.name, 60)} /></code> <Visible text={oneLine(tool.description ?? "", 120)} /></summary><Pre text={JSON.stringify(tool.parameters ?? {}, null, 2)} /></details>)}
    </>
  );
}

function Slices(): VNode {
  const slices = shown.value.session.slices;
  if (!slices.length) return <p class="lead">The application keeps no side-state here.</p>;
  return <>{slices.map((slice) => <section><h3><Visible text={slice.name} /></h3><p class="lead">{(slice.items ?? []).length} items{slice.version ? `, version ${slice.version}` : ""}</p><Pre text={JSON.stringify(slice.items ?? [], null, 2).slice(0, 40_000)} /></section>)}</>;
}

const TARGETS = ["anthropic.messages", "openai.chat", "openai.responses", "gemini.contents", "ollama.chat", "bedrock.converse"];

function Lint({ session }: { session: string }): VNode {
  const [target, setTarget] = useState(TARGETS[0]);
  const [found, setFound] = useState<Fields[] | string | undefined>(undefined);
  useEffect(() => {
    setFound(undefined);
    offer(`lint ${quoted(session)} --for ${target}`, "lint for another vendor");
    api.lint(session, target).then(setFound, (error) => setFound(String(error.message)));
  }, [target, session]);
  const findings = Array.isArray(found) ? found : [];
  return (
    <>
      <label class="sel-row">Check for <select value={target} onChange={(event) => setTarget(event.currentTarget.value)}>{TARGETS.map((name) => <option>{name}</option>)}</select></label>
      {typeof found === "string" && <p class="lead dead">{found}</p>}
      {Array.isArray(found) && !found.length && <p class="lead">{target} would take this session as it is.</p>}
      {findings.map((finding) => <div class={`find${finding.severity === "warning" ? " w" : ""}`}><b>{finding.rule}</b> {finding.severity} at <button class="acc" onClick={() => revealPath(finding.at)}><Visible text={finding.at ?? ""} /></button><br /><Visible text={finding.what ?? ""} /></div>)}
    </>
  );
}

function revealPath(path: string): void {
  const block = story.value.turns.flatMap((turn) => turn.blocks).find((shown) => path?.startsWith(shown.path));
  if (block) reveal(block.at.seq);
}
