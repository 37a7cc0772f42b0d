// The page of one session.

import { type VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { type Story, stateOf } from "./story";
import { type Glyph, Icon } from "./icons";
import { rows } from "./conversation";
import { Virtual } from "./virtual";
import { Track } from "./track";
import { Inspector } from "./inspector";
import { CommandBar, Strip, TopBar } from "./bars";
import { Visible, needle } from "./visible";
import { between, count, money, oneLine, plural, seconds, shortId } from "./text";
import { clauses, connection, offer, quoted, readOnly, reveal, scrub, shown, story, target, version } from "./state";
import { act, can, me } from "./act";
import { dialog } from "./dialogs";

const STATUS: { [state: string]: [Glyph, string, string?] } = {
  pending: ["run", "not begun"], in_progress: ["run", "in progress", "acc"], waiting_for_tools: ["run", "waits for tools", "acc"],
  waiting_for_human: ["wait", "waits for a person", "need"], completed: ["done", "completed"], stopped: ["stop", "stopped"],
  failed: ["fail", "failed", "dead"], handoff: ["hand", "handed off"],
};

export function statusOf(state: string | undefined): [Glyph, string, string?] {
  return STATUS[state ?? ""] ?? ["run", state ?? "unknown"];
}

/** On a phone one of three is shown. */
const view = signal<"conv" | "insp" | "cmd">("conv");

const scroller = (): HTMLElement => (matchMedia("(max-width:760px)").matches ? document.documentElement : (document.getElementById("conv") ?? document.documentElement));

export function SessionPage({ id }: { id: string }): VNode {
  version.value;
  const past = scrub.value !== undefined;
  useEffect(() => void (document.body.dataset.view = view.value), [view.value]);
  useEffect(() => offer(`show ${quoted(id)}`, "read it in a terminal"), [id]);
  useEffect(() => {
    document.title = `${story.value.session.title ?? shortId(id)} · turnkeep`;
  });
  if (past) document.body.dataset.past = "";
  else delete document.body.dataset.past;
  return (
    <>
      <a class="skip" href="#conv" onClick={(event) => { event.preventDefault(); document.getElementById("conv")?.focus(); }}>Skip to the conversation</a>
      <TopBar place={shortId(id)}><Find /></TopBar>
      <div class="head-wrap"><Strip /><ReadOnlyStrip /><Head id={id} /></div>
      <Track session={id} />
      <div class="main"><Conversation id={id} /><Inspector session={id} /></div>
      <CommandBar />
      <nav class="seg" aria-label="Views">{(["conv", "insp", "cmd"] as const).map((name, index) => (
        <button aria-pressed={view.value === name} onClick={() => { view.value = name; scrollTo(0, 0); }}><Icon name={(["say", "led", "term"] as const)[index]} small={false} />{["Session", "Inspect", "Command"][index]}</button>
      ))}</nav>
    </>
  );
}

function ReadOnlyStrip(): VNode | null {
  return readOnly.value ? <div class="strip"><Icon name="lock" /><span>You are looking at a copy. Nothing here is stored, and nothing can be changed.</span></div> : null;
}

function Head({ id }: { id: string }): VNode {
  const now = shown.value;
  const { session } = now;
  const [glyph, word, tone] = statusOf(session.status?.state);
  const first = now.turns[0]?.blocks.find((block) => block.block.author === "user")?.block.text;
  const lives = now.runs.length > 0 && !now.runs.at(-1)?.stopped;
  return (
    <section class="head">
      <div class="h1"><h1><Visible text={oneLine(session.title ?? first ?? shortId(id), 140)} /></h1>
        <span class={`st pill ${tone ?? ""}`}><Icon name={glyph} />{word}</span>
        <div class="acts">
          {can("run") && lives && <button class="btn" title="Stop" onClick={() => act.stop(id)}><Icon name="stop" /><span>Stop</span></button>}
          {can("run") && !lives && session.status?.state !== "completed" && <button class="btn" title="Resume" data-key="r" onFocus={() => offer(`resume ${quoted(id)}`, "resume")} onClick={() => act.resume(id)}><Icon name="resume" /><span>Resume</span></button>}
          {can("write") && <button class="btn" title="Fork" data-key="f" onFocus={() => offer(`fork ${quoted(id)}`, "fork from the end")} onClick={() => act.fork(id, scrub.value)}><Icon name="fork" /><span>Fork</span></button>}
          {!readOnly.value && <button class="btn" title="Slim view" onClick={() => (dialog.value = { kind: "slim", session: id })}><Icon name="led" /><span>Slim</span></button>}
          {!readOnly.value && <button class="btn" title="Export" onClick={() => (dialog.value = { kind: "export", session: id })}><Icon name="out" /><span>Export</span></button>}
          {can("write") && <button class="btn" title="Share" onClick={() => (dialog.value = { kind: "share", session: id })}><Icon name="share" /><span>Share</span></button>}
        </div></div>
      <p class="acct">{clauses.value.map((clause) => clause.seq ? <a class={clause.tone ?? ""} href={`#s${clause.seq}`} onClick={(event) => { event.preventDefault(); reveal(clause.seq!); }}>{clause.text}</a> : <span class={clause.tone ?? ""}>{clause.text}</span>)}</p>
      <Stats story={now} id={id} />
    </section>
  );
}

function Stats({ story: now, id }: { story: Story; id: string }): VNode {
  const { session } = now;
  const models = [...new Set(session.turns.map((turn) => turn.model).filter((model) => model))] as string[];
  const summed = (key: string) => session.usage[key] ?? session.turns.reduce((sum, turn) => sum + Number(turn.usage?.[key] ?? 0), 0);
  const [input, cached, output] = [summed("input"), summed("cached_read"), summed("output")];
  const losses = now.turns.reduce((sum, turn) => sum + turn.losses.length, 0);
  const active = session.turns.reduce((sum, turn) => sum + Number(turn.timing?.seconds ?? 0), 0);
  const whole = between(now.entries[0]?.time, now.last?.time);
  const told: [string, string, string?][] = [
    ["Models", models.length > 3 ? plural(models.length, "model") : models.map((model) => oneLine(model, 40)).join(" → ") || "none"],
    ["Turns", String(session.turns.length)],
    ["In", count(input), cached ? `${Math.round((cached / Math.max(1, input)) * 100)} % cached` : undefined],
    ["Out", count(output)],
    ["Cost", money(summed("cost"))],
    ["Active", seconds(active), whole ? `of ${seconds(whole)}` : undefined],
    ["Losses", String(losses)],
  ];
  // A script and many imports count nothing: zeros would look like a measurement.
  const counted = input > 0 || output > 0;
  const facts = told.filter(([name]) => counted || !["In", "Out", "Cost"].includes(name));
  const tags: [string, string][] = Array.isArray(session.tags) ? session.tags : Object.entries(session.tags ?? {});
  return (
    <dl class="stats">
      {facts.map(([name, value, more]) => <div><dt>{name}</dt><dd>{value} {more && <small>{more}</small>}</dd></div>)}
      {session.parent && <div><dt>Fork of</dt><dd><a class="acc" href={`#/s/${encodeURIComponent(session.parent.session)}`}>{shortId(session.parent.session)}</a></dd></div>}
      <div class="tags"><dt class="vh">Tags</dt><dd>{tags.map(([key, value]) => <span class="tag"><Visible text={oneLine(value ? `${key}=${value}` : key, 40)} /></span>)}
        {can("write") && <button class="tag add" onClick={() => (dialog.value = { kind: "tags", session: id, tags })}>{tags.length ? "edit" : "add a tag"}</button>}</dd></div>
    </dl>
  );
}

function Conversation({ id }: { id: string }): VNode {
  version.value;
  const now = shown.value;
  const list = useMemo(() => rows(now, id), [now, version.value, id]);
  const wanted = target.value;
  const key = wanted ? keyOf(list, now, wanted.seq) : undefined;
  const later = (story.value.last?.seq ?? 0) - (now.last?.seq ?? 0);
  useEffect(() => {
    if (!wanted) return;
    const timer = setTimeout(() => document.getElementById(`s${wanted.seq}`)?.scrollIntoView({ block: wanted.block === "end" ? "end" : "center" }), 60);
    return () => clearTimeout(timer);
  }, [wanted?.nonce]);
  return (
    <main class="conv" id="conv" tabIndex={-1}>
      {scrub.value !== undefined && <div class="asof" role="status"><Icon name="again" tone="acc" /><span>You see the session as it was at record <b>{scrub.value}</b>.</span><span class="sp" />
        {can("write") && <button class="btn" onClick={() => act.fork(id, scrub.value)}><Icon name="fork" />Fork from here</button>}
        <button class="btn pri" onClick={() => (scrub.value = undefined)}>Back to live <kbd>L</kbd></button></div>}
      <div class="conv-in">
        {now.damage && <div class="strip dead" role="alert"><span>{now.damage}. What comes before and after it is shown.</span></div>}
        <Virtual rows={list} scroller={scroller} target={wanted && key ? { key, nonce: wanted.nonce } : undefined} follow={scrub.value === undefined && connection.value.state === "live"} />
        {later > 0 && <div class="later on">{plural(later, "later record")} not shown.</div>}
        {can("run") && scrub.value === undefined && <Composer id={id} />}
        <Pill />
      </div>
    </main>
  );
}

function keyOf(list: { key: string }[], now: Story, seq: number): string | undefined {
  const tear = now.tears.find((one) => one.resumed.started.seq === seq || one.before.seq === seq);
  if (tear) return `k${tear.resumed.started.seq}`;
  const turn = now.turns.findLast((one) => one.at.seq <= seq);
  return turn && list.find((row) => row.key === `t${turn.index}` || row.key.startsWith(`t${turn.index}-`))?.key;
}

function Composer({ id }: { id: string }): VNode {
  const [text, setText] = useState("");
  const [endpoint, setEndpoint] = useState("");
  const endpoints = me.value?.endpoints ?? [];
  const send = async () => {
    if (text.trim() && (await act.ask(id, text, endpoint || undefined))) setText("");
  };
  return (
    <form class="comp" onSubmit={(event) => { event.preventDefault(); send(); }}>
      <label><span class="vh">Ask</span><textarea placeholder="Ask, to continue this session…" value={text} rows={2} onFocus={() => offer(`ask ${quoted(id)} '…'`, "ask")} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={(event) => { if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) { event.preventDefault(); send(); } }} /></label>
      <div class="row"><label class="opt">Endpoint <select value={endpoint} onChange={(event) => setEndpoint(event.currentTarget.value)}><option value="">default</option>{endpoints.map((name) => <option>{name}</option>)}</select></label><span class="sp" /><button class="btn pri" type="submit" disabled={!text.trim()}>Send <kbd>Ctrl ↵</kbd></button></div>
    </form>
  );
}

/** Leads to what waits while that is out of sight. */
function Pill(): VNode | null {
  const now = shown.value;
  const waiting = [...now.calls.values()].filter((call) => ["waits", "unsure"].includes(stateOf(call, now)));
  const [off, setOff] = useState(true);
  useEffect(() => {
    const box = document.getElementById("conv");
    const look = () => {
      const card = waiting[0] && document.getElementById(`s${waiting[0].at.seq}`);
      setOff(!waiting.length || (!!card && card.getBoundingClientRect().top < innerHeight - 80 && card.getBoundingClientRect().bottom > 60));
    };
    look();
    box?.addEventListener("scroll", look, { passive: true });
    addEventListener("scroll", look, { passive: true });
    return () => {
      box?.removeEventListener("scroll", look);
      removeEventListener("scroll", look);
    };
  }, [waiting.length]);
  if (!waiting.length || scrub.value !== undefined) return null;
  return <div class={`tolive${off ? " off" : ""}`}><a href={`#s${waiting[0].at.seq}`} onClick={(event) => { event.preventDefault(); reveal(waiting[0].at.seq); }}><Icon name="wait" tone="need" />{plural(waiting.length, "call")} for you</a></div>;
}

/** Finds inside the session, in everything that was said, wherever the view is; or goes to a record by its number. */
function Find(): VNode {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const hits = useMemo(() => (open ? found(story.value, text) : []), [text, open, version.value]);
  const go = (index: number) => {
    if (!hits.length) return;
    const next = (index + hits.length) % hits.length;
    setAt(next);
    reveal(hits[next]);
  };
  const submit = (back: boolean) => {
    const seq = /^#?(\d+)$/.exec(text.trim());
    if (seq && !hits.length) reveal(Number(seq[1]));
    else go(at + (back ? -1 : 1));
  };
  const close = () => { setOpen(false); needle.value = ""; };
  if (!open) return <button class="jump" id="find" onClick={() => setOpen(true)}><Icon name="find" /><span>Find here, or go to a seq</span><kbd>/</kbd></button>;
  return (
    <form class="jump" role="search" onSubmit={(event) => { event.preventDefault(); submit(false); }}>
      <Icon name="find" /><input aria-label="Find here, or go to a seq" value={text} ref={(input) => { if (input && document.activeElement !== input && !text) input.focus(); }}
        onInput={(event) => { const word = event.currentTarget.value; setText(word); setAt(-1); needle.value = word.toLowerCase(); }}
        onKeyDown={(event) => { if (event.key === "Escape") close(); if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); submit(true); } }} />
      <span class="cnt" role="status">{text.length > 1 ? (hits.length ? `${Math.max(1, at + 1)} of ${hits.length}` : "none") : ""}</span>
      <button class="btn quiet icon" type="button" aria-label="Close" onClick={close}><Icon name="close" /></button>
    </form>
  );
}

export function found(whole: Story, text: string): number[] {
  const word = text.toLowerCase();
  if (word.length < 2) return [];
  const hits: number[] = [];
  for (const turn of whole.turns) {
    for (const { block, at } of [...turn.blocks, ...turn.interrupted]) {
      const texts = [block.text, block.arguments, block.name, block.error, ...(block.summary ?? []), ...(block.parts ?? []).map((part: any) => part.text ?? JSON.stringify(part.json ?? ""))];
      if (texts.some((one) => typeof one === "string" && one.toLowerCase().includes(word))) {
        const call = block.type === "tool_result" ? whole.calls.get(String(block.call)) : undefined;
        hits.push(call?.at.seq ?? at.seq);
      }
    }
  }
  return [...new Set(hits)];
}
