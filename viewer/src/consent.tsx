// A call that waits for a person: everything it would do, and the three decisions.

import { type VNode } from "preact";
import { useState } from "preact/hooks";
import { type Call } from "./story";
import { Icon } from "./icons";
import { coloured, pretty } from "./code";
import { ago, millis, oneLine, seconds } from "./text";
import { Visible } from "./visible";
import { now, offer, quoted } from "./state";
import { act, can, sent } from "./act";

export function Consent({ call, session }: { call: Call; session: string }): VNode {
  const before = pretty(call.arguments ?? "");
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const [reason, setReason] = useState<string | undefined>(undefined);
  const expires = millis(call.asked?.expires);
  const expired = expires < now.value;
  const name = `${quoted(session)} ${quoted(call.id)}`;
  const digest = call.asked?.digest ?? "";
  const approve = () => act.approve(session, call, edited !== undefined && edited !== before ? edited : undefined);
  const invalid = edited !== undefined && !isJson(edited);
  return (
    <div class={`ask${edited === undefined ? "" : " edit"}`} data-consent={call.id} onFocusCapture={() => offer(`approve ${name}`, "what waits for you")}>
      <header><Icon name="wait" small={false} /><span class="what"><Visible text={oneLine(call.name, 60)} /> waits for your consent</span>
        <span class="when">asked {ago(call.asked?.time, now.value)} ago{Number.isNaN(expires) ? "" : expired ? " · expired" : ` · expires in ${seconds((expires - now.value) / 1000)}`}</span></header>
      <div class="bd">
        <p>{call.asked?.reason ? <Visible text={call.asked.reason} /> : `It would act with these arguments${call.effect ? ` (${call.effect})` : ""}.`}</p>
        {edited === undefined
          ? <pre dir="auto" tabIndex={0}>{coloured(before)}</pre>
          : <label><span class="vh">Arguments</span><textarea class="args" value={edited} onInput={(event) => setEdited(event.currentTarget.value)} spellcheck={false} /></label>}
        {invalid && <p class="dead" role="alert">This is not JSON, so it cannot be sent.</p>}
        {edited !== undefined && edited !== before && !invalid && <Changed from={before} to={edited} />}
        {reason !== undefined && <label class="why"><span>Why not? The model is told.</span><textarea value={reason} onInput={(event) => setReason(event.currentTarget.value)} /></label>}
      </div>
      {sent.value[call.id] && <p class="sent" role="status">{sent.value[call.id]}</p>}
      {can("run") ? (
        <footer>
          {reason === undefined && <button class="btn pri" data-key="a" disabled={invalid || expired} onClick={approve}>{edited !== undefined && edited !== before ? "Approve the changed call" : "Approve"} <kbd>A</kbd></button>}
          {reason === undefined && <button class="btn" data-key="e" onClick={() => setEdited(edited === undefined ? before : undefined)}>{edited === undefined ? "Edit" : "Keep as it was"} <kbd>E</kbd></button>}
          {reason === undefined
            ? <button class="btn danger" data-key="d" onClick={() => setReason("")} onFocus={() => offer(`deny ${name} --reason '…'`, "refuse, and tell the model why")}>Deny… <kbd>D</kbd></button>
            : <><button class="btn danger" onClick={() => act.deny(session, call, reason)}>Deny</button><button class="btn" onClick={() => setReason(undefined)}>Cancel</button></>}
          <span class="dg mono">digest {digest.slice(0, 8)}</span>
        </footer>
      ) : <footer><span class="dim">Your token may not decide.</span><span class="dg mono">digest {digest.slice(0, 8)}</span></footer>}
    </div>
  );
}

function Changed({ from, to }: { from: string; to: string }): VNode {
  const [old, fresh] = [from.split("\n"), to.split("\n")];
  return (
    <div class="chg" aria-label="What you changed">
      {old.filter((line) => !fresh.includes(line)).map((line) => <del><Visible text={line} /></del>)}
      {fresh.filter((line) => !old.includes(line)).map((line) => <ins><Visible text={line} /></ins>)}
    </div>
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
