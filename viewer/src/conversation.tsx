// The conversation: one sheet of paper, numbered by record, torn where a process was killed.

import { type VNode } from "preact";
import { type Call, type Shown, type Story, type Tear, type TurnStory, fateOf, stateOf } from "./story";
import { type Row } from "./virtual";
import { Icon } from "./icons";
import { BlockBody } from "./blocks";
import { CallView, GLYPHS, parallel } from "./call";
import { Consent } from "./consent";
import { Markdown } from "./markdown";
import { Visible } from "./visible";
import { between, clock, count, inWords, money, oneLine, seconds } from "./text";
import { offer, quoted, scrub, sessionHash, streaming, target } from "./state";
import { act, can } from "./act";

/** The rows of a conversation, in order: parts of turns, and tears between them. */
export function rows(story: Story, session: string): Row[] {
  const list: Row[] = [];
  const tears = story.tears;
  const lives = !story.runs.at(-1)?.stopped && story.runs.length > 0;
  for (const turn of story.turns) {
    // A kill in the middle of a turn parts it: what was said afterwards stands behind the tear.
    const cuts = tears.filter((tear) => tear.resumed.started.seq > turn.at.seq && tear.resumed.started.seq < turn.last.seq);
    let from = 0;
    for (const tear of [...cuts, undefined]) {
      const until = tear ? tear.resumed.started.seq : Infinity;
      const part = partOf(turn, from, until);
      if (from === 0 || isSeen(part, story)) list.push(turnRow(part, turn, story, session, from > 0));
      if (tear) list.push(tearRow(tear, story, session));
      from = until;
    }
    const next = story.turns[turn.index + 1]?.at.seq ?? Infinity;
    const between = tears.filter((tear) => !cuts.includes(tear) && tear.resumed.started.seq > turn.last.seq && tear.resumed.started.seq < next);
    for (const tear of between) list.push(tearRow(tear, story, session));
  }
  if (lives) list.push({ key: "live", height: 60, render: () => <Live /> });
  return list;
}

function partOf(turn: TurnStory, from: number, until: number): TurnStory {
  const here = (shown: Shown) => shown.at.seq > from && shown.at.seq < until;
  const losses = turn.losses.filter((one) => one.at.seq > from && one.at.seq < until);
  return { ...turn, blocks: turn.blocks.filter(here), interrupted: turn.interrupted.filter(here), losses };
}

/** Whether a later part of a turn has anything of its own: results stand with their calls, before the tear. */
function isSeen(part: TurnStory, story: Story): boolean {
  const stands = (shown: Shown) => shown.block.type !== "tool_result" || !story.calls.has(String(shown.block.call));
  return part.blocks.some(stands) || part.interrupted.length > 0;
}

function turnRow(part: TurnStory, turn: TurnStory, story: Story, session: string, rest: boolean): Row {
  const text = part.blocks.reduce((sum, shown) => sum + Math.min(6000, (shown.block.text ?? shown.block.arguments ?? "").length), 0);
  return {
    key: `t${turn.index}${rest ? `-${part.blocks[0]?.at.seq ?? ""}` : ""}`,
    height: 70 + part.blocks.length * 34 + text / 4,
    render: () => <TurnView part={part} turn={turn} story={story} session={session} rest={rest} />,
  };
}

function TurnView({ part, turn, story, session, rest }: { part: TurnStory; turn: TurnStory; story: Story; session: string; rest: boolean }): VNode {
  const folded = story.session.turns[turn.index] ?? {};
  const usage = folded.usage ?? {};
  const lasted = folded.timing?.seconds ?? between(turn.at.time, turn.last.time);
  const facts = [
    usage.input ? `${count(usage.input)} in` : "", usage.output ? `${count(usage.output)} out` : "",
    usage.cost ? money(usage.cost) : "", lasted ? seconds(Number(lasted)) : "",
  ].filter((fact) => fact).join(" · ");
  const failures = rest ? [] : turn.tries.filter((one) => one.failure);
  return (
    <section class="turn" aria-label={`Turn ${turn.index + 1}`}>
      <header class="turn-h"><b>Turn {turn.index + 1}{rest ? ", continued" : ""}</b><span><Visible text={oneLine(folded.model ?? "", 60)} /></span><span class="r">{facts}</span></header>
      {part.losses.map((one) => <Entry seq={one.at.seq} session={session}><div class="note"><Icon name="loss" /><span><b>Lost on the way to the model:</b> <Visible text={oneLine(one.loss.what ?? "", 300)} /> <code><Visible text={`${one.loss.kind} ${one.loss.at}`} /></code></span></div></Entry>)}
      {failures.map((one) => <Entry seq={one.end?.seq ?? one.seq} session={session}><div class="note"><Icon name="fail" tone="dead" /><span>The model did not answer: <b>{one.failure?.cause}</b>. <Visible text={oneLine(one.failure?.message ?? "", 240)} /></span></div></Entry>)}
      {grouped(part.blocks).map((group) => <Group group={group} story={story} session={session} />)}
      {part.interrupted.length > 0 && <Interrupted shown={part.interrupted} session={session} />}
      {(folded.errors ?? []).map((error: any) => <div class="note pad"><Icon name="fail" tone="dead" /><span><Visible text={oneLine(error.message, 300)} /></span></div>)}
    </section>
  );
}

type GroupOf = { kind: "block"; shown: Shown } | { kind: "calls"; shown: Shown[] };

/** Calls that stand beside each other are one group; results stand with their calls. */
function grouped(blocks: Shown[]): GroupOf[] {
  const groups: GroupOf[] = [];
  for (const shown of blocks) {
    const last = groups.at(-1);
    if (shown.block.type === "tool_call") {
      if (last?.kind === "calls") last.shown.push(shown);
      else groups.push({ kind: "calls", shown: [shown] });
    } else groups.push({ kind: "block", shown });
  }
  return groups;
}

function Group({ group, story, session }: { group: GroupOf; story: Story; session: string }): VNode | null {
  if (group.kind === "block") {
    const { shown } = group;
    if (shown.block.type === "tool_result") {
      if (story.calls.has(String(shown.block.call))) return null;
      return <Entry seq={shown.at.seq} session={session}><LoneResult shown={shown} /></Entry>;
    }
    return <Entry seq={shown.at.seq} session={session} kind={shown.block.author === "assistant" ? "" : "user"}><BlockBody shown={shown} /></Entry>;
  }
  return (
    <div class="par">
      {group.shown.length > 1 && <div class="ph"><Icon name="par" />{parallel(group.shown.length)}</div>}
      {group.shown.map((shown) => <CallEntry shown={shown} call={story.calls.get(String(shown.block.call))} story={story} session={session} />)}
    </div>
  );
}

function CallEntry({ shown, call, story, session }: { shown: Shown; call?: Call; story: Story; session: string }): VNode | null {
  if (!call) return null;
  const waits = stateOf(call, story) === "waits";
  return <Entry seq={shown.at.seq} session={session}>{waits ? <Consent call={call} session={session} /> : <CallView call={call} story={story} session={session} />}</Entry>;
}

function LoneResult({ shown }: { shown: Shown }): VNode {
  const text = (shown.block.parts ?? []).map((part: any) => part.text ?? JSON.stringify(part.json ?? "")).join("\n");
  return <div class="note"><Icon name="hand" /><span>A result of <code><Visible text={String(shown.block.call)} /></code>, whose call is not here: <Visible text={oneLine(text, 300)} /></span></div>;
}

function Interrupted({ shown, session }: { shown: Shown[]; session: string }): VNode {
  return (
    <Entry seq={shown[0].at.seq} session={session}>
      <div class="fold open"><div class="fold-h"><Icon name="kill" tone="dead" /><b>An answer that broke off</b><span class="dim">kept and never sent; its calls never run</span></div>
        <div class="fold-b">{shown.map((one) => <BlockBody shown={one} />)}</div></div>
    </Entry>
  );
}

function Entry({ seq, session, kind = "", children }: { seq: number; session: string; kind?: string; children: any }): VNode {
  const selected = target.value?.seq === seq || scrub.value === seq;
  return (
    <div class={`e ${kind}${selected ? " sel" : ""}`} id={`s${seq}`} data-seq={seq}>
      <a class="g" href={sessionHash(session, seq)} title={`Link to record ${seq}`} onClick={() => offer(`show ${quoted(session)}`, "this conversation")}>{seq}</a>
      <div class="b">{children}</div>
    </div>
  );
}

function Live(): VNode | null {
  if (!streaming.value) return null;
  return <section class="turn"><div class="e"><span class="g" /><div class="b"><Markdown text={streaming.value} /><span class="caret" aria-label="still writing" /></div></div></section>;
}

function tearRow(tear: Tear, story: Story, session: string): Row {
  return { key: `k${tear.resumed.started.seq}`, height: 250, render: () => <TearView tear={tear} story={story} session={session} /> };
}

function TearView({ tear, story, session }: { tear: Tear; story: Story; session: string }): VNode {
  const lost = between(tear.before.time, tear.resumed.started.time);
  const open = tear.open.flatMap((id) => story.calls.get(id) ?? []);
  const after = story.endpoints.find((one) => one.at.seq > tear.resumed.started.seq)?.model;
  const host = (process?: string) => process?.split("+")[0].replace("@", ", host ") ?? "a process nobody named";
  return (
    <section class="tear" id={`s${tear.resumed.started.seq}`} aria-label="The process was killed, and the session was resumed">
      <Edge side="k" />
      <div class="gapbox">
        <span class="g">{tear.before.seq}</span>
        <div class="in">
          <div class="mk dead"><Icon name="kill" /><b>Killed</b><time>{clock(tear.before.time)}</time><span class="m">run {tear.killed.number}, process {host(tear.killed.process)}, {inWords(open.length)} {open.length === 1 ? "call" : "calls"} open</span></div>
          <div class="hole">{lost === undefined ? "a time" : seconds(lost)} in which nobody ran this session</div>
          <ul class="fate">{open.map((call) => <Fate call={call} story={story} />)}</ul>
        </div>
        <span class="g acc">{tear.resumed.started.seq}</span>
        <div class="in">
          <div class="mk acc"><Icon name="resume" /><b>Resumed</b><time>{clock(tear.resumed.started.time)}</time>
            <span class="m">run {tear.resumed.number}, process {host(tear.resumed.process)}{after && after !== tear.models[0] ? <>, {oneLine(tear.models[0] ?? "", 40)} → <strong>{oneLine(after, 40)}</strong></> : null}</span>
            <span class="r"><button class="btn" onClick={() => (scrub.value = tear.before.seq)}>See it at {tear.before.seq}</button>
              {can("write") && <button class="btn" onFocus={() => offer(`fork ${quoted(session)} --at ${tear.before.seq}`, "continue from before the kill")} onClick={() => act.fork(session, tear.before.seq)}><Icon name="fork" />Fork here</button>}</span>
          </div>
        </div>
      </div>
      <Edge side="rz" />
    </section>
  );
}

function Fate({ call, story }: { call: Call; story: Story }): VNode {
  const fate = fateOf(call);
  const [glyph, , tone] = GLYPHS[stateOf(call, story)];
  return <li class={fate.attention ? "n" : ""}><b><Icon name={fate.attention ? "unsure" : glyph} tone={fate.attention ? "need" : tone} /><Visible text={oneLine(call.name, 40)} /></b><em>{fate.word}</em> {fate.why}</li>;
}

// Teeth have a fixed size in pixels: a pattern that repeats, whatever the width.
const TEETH = Array.from({ length: 160 }, (_, index) => `${index * 14},${index % 2 ? 3 + ((index * 7) % 5) : 12 + ((index * 5) % 5)}`).join(" ");

function Edge({ side }: { side: "k" | "rz" }): VNode {
  const fill = side === "k" ? `0,-1 ${TEETH} 2240,-1` : `0,19 ${TEETH} 2240,19`;
  return <svg class={`edge ${side}`} aria-hidden="true"><polygon class="fill" points={fill} /><polyline class="ln" points={TEETH} /></svg>;
}
