// A tool call: one line, then arguments and result side by side, then the evidence for what is claimed of it.

import { type VNode } from "preact";
import { useState } from "preact/hooks";
import { type Fields } from "./fold";
import { type Call, type CallState, type Story, stateOf } from "./story";
import { type Glyph, Icon } from "./icons";
import { pretty } from "./code";
import { Long, MediaBlock } from "./blocks";
import { Visible } from "./visible";
import { clock, inWords, oneLine, seconds } from "./text";
import { offer, quoted } from "./state";
import { act, can } from "./act";

export const GLYPHS: { [state in CallState]: [Glyph, string, string?] } = {
  open: ["run", "open"],
  waits: ["wait", "waits for consent", "need"],
  begun: ["run", "begun"],
  settled: ["done", "settled"],
  repeated: ["again", "settled, run again"],
  unsure: ["unsure", "unsure", "need"],
  failed: ["fail", "failed", "dead"],
  denied: ["stop", "denied"],
};

export function CallView({ call, story, session }: { call: Call; story: Story; session: string }): VNode {
  const state = stateOf(call, story);
  const [glyph, word, tone] = GLYPHS[state];
  const proved = call.kills.length > 0 && (call.settled || call.result) && call.intents.length === 1;
  const kind = state === "unsure" ? "unsure" : proved ? "proved" : "";
  const tries = call.intents.length;
  const said = proved ? "settled, looked up" : state === "repeated" ? `settled, try ${tries}` : word;
  const lasted = call.settled?.seconds ?? undefined;
  return (
    <details class={`call ${kind}`} open={state === "unsure" || undefined} onToggle={() => offer(`show ${quoted(session)} --ledger`, "what is known of every call")}>
      <summary>
        <Icon name="chev" tone="chev" /><Icon name={proved ? "unsure" : glyph} tone={proved ? "need" : tone} />
        <span class="nm"><Visible text={oneLine(call.name, 60)} /></span>
        <span class="ar"><Visible text={oneLine(call.arguments ?? "", 300)} /></span>
        <span class="ef">{call.effect ?? ""}</span>
        <span class="st"><span class={tone ?? "dim"}>{said}</span></span>
        <span class="du">{lasted === undefined ? "" : seconds(Number(lasted))}</span>
      </summary>
      <div class="io">
        <div><h4>Arguments</h4><Long text={pretty(call.given?.arguments ?? call.arguments ?? "")} seq={call.at.seq} path="block.arguments" /></div>
        <div><h4>Result</h4><ResultView call={call} /></div>
      </div>
      {(call.kills.length > 0 || call.resolved || call.given || state === "unsure") && <Evidence call={call} state={state} session={session} />}
    </details>
  );
}

export function ResultView({ call }: { call: Call }): VNode {
  const result = call.result;
  if (!result) return <p class="none dim">no result</p>;
  const seq = call.resultAt?.seq ?? 0;
  return (
    <>
      {result.error && <Long text={result.error} seq={seq} path="block.error" />}
      {(result.parts ?? []).map((part: Fields, index: number) => <PartView part={part} seq={seq} path={`block.parts.${index}`} />)}
      {!result.error && !(result.parts ?? []).length && <p class="none dim">empty</p>}
    </>
  );
}

function PartView({ part, seq, path }: { part: Fields; seq: number; path: string }): VNode {
  if (part.type === "media") return <MediaBlock media={part} />;
  if (part.type === "text") return <Long text={pretty(part.text ?? "")} seq={seq} path={`${path}.text`} />;
  return <Long text={JSON.stringify(part.json ?? part, null, 2)} seq={seq} path={`${path}.json`} />;
}

interface Link { kind: "ok" | "x" | "pr" | ""; seq?: number; text: VNode | string; time?: string }

function chain(call: Call): Link[] {
  const links: Link[] = [];
  if (call.asked) links.push({ kind: "", seq: call.asked.seq, text: "a person was asked", time: call.asked.time });
  if (call.given) links.push({ kind: "ok", seq: call.given.seq, text: `${call.given.verdict === "deny" ? "denied" : "approved"}${call.given.by ? ` by ${oneLine(call.given.by, 60)}` : ""}${call.given.reason ? `: ${oneLine(call.given.reason)}` : ""}`, time: call.given.time });
  call.intents.forEach((intent, index) => {
    const key = call.key ? <> under the key <code><Visible text={oneLine(call.key, 120)} /></code></> : null;
    links.push({ kind: "ok", seq: intent.seq, text: <>{index ? "run again" : "intended"}, <b>{call.effect}</b>{key}</>, time: intent.time });
  });
  call.kills.forEach((kill) => links.push({ kind: "x", seq: kill, text: <span class="dead">the run was killed; no outcome was recorded{call.effect === "once" ? ", so it may have acted" : ""}</span> }));
  links.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  if (call.resolved) links.push({ kind: "pr", seq: call.resolved.seq, text: `a person said: ${call.resolved.resolution === "retry" ? "it did not act, call again" : "give it up"}`, time: call.resolved.time });
  if (call.settled) {
    const looked = call.kills.length && call.intents.at(-1)!.seq < call.kills.at(-1)!;
    if (looked) links.push({ kind: "pr", seq: call.settled.seq, text: "its outcome was looked up, and it was not repeated", time: call.settled.time });
    links.push({ kind: "ok", seq: call.settled.seq, text: <>settled as <b>{call.settled.outcome}</b></>, time: call.settled.time });
  }
  return links;
}

export function Evidence({ call, state, session }: { call: Call; state: CallState; session: string }): VNode {
  const unsure = state === "unsure";
  return (
    <div class="ev">
      <h4 class={unsure ? "need" : ""}>{unsure ? "Unsure: it may have acted. It is not repeated until someone knows." : "Why this is known"}</h4>
      <ol>{chain(call).map((link) => (
        <li class={link.kind}><span class="q">{link.seq ?? ""}</span><span>{link.text}</span><time>{clock(link.time, true)}</time></li>
      ))}</ol>
      {unsure && can("run") && <Resolve call={call} session={session} />}
    </div>
  );
}

/** The three things a person can know of a call whose outcome nobody recorded. */
function Resolve({ call, session }: { call: Call; session: string }): VNode {
  const [said, setSaid] = useState<string | undefined>(undefined);
  const name = `${quoted(session)} ${quoted(call.id)}`;
  if (said !== undefined) {
    return (
      <form class="rs" onSubmit={(event) => { event.preventDefault(); act.resolve(session, call, { outcome: "done", result: said }); }}>
        <label class="grow"><span class="vh">What it returned</span>
          <textarea value={said} placeholder="What the tool returned" onInput={(event) => setSaid(event.currentTarget.value)} /></label>
        <button class="btn pri" type="submit">Record this result</button>
        <button class="btn" type="button" onClick={() => setSaid(undefined)}>Cancel</button>
      </form>
    );
  }
  return (
    <div class="rs">
      <button class="btn" onFocus={() => offer(`resolve ${name} --done '…'`, "it acted")} onClick={() => setSaid("")}>It acted: give its result</button>
      <button class="btn" onFocus={() => offer(`resolve ${name} --retry`, "it did not act")} onClick={() => act.resolve(session, call, { outcome: "retry" })}>It did not: call again</button>
      <button class="btn" onFocus={() => offer(`resolve ${name} --skip`, "nobody knows")} onClick={() => act.resolve(session, call, { outcome: "skip" })}>Give it up</button>
    </div>
  );
}

export function parallel(n: number): string {
  return `${inWords(n)[0].toUpperCase()}${inWords(n).slice(1)} calls at once`;
}
