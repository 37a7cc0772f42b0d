// What is asked before something is written: export with its losses, sharing, comparing, keys.

import { type ComponentChildren, type VNode } from "preact";
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Fields } from "./fold";
import { Icon } from "./icons";
import { Pre } from "./code";
import { Visible } from "./visible";
import { plural } from "./text";
import { api } from "./api";
import { offer, quoted } from "./state";

export type Dialog = { kind: "export" | "share" | "keys" | "slim" | "tags"; session?: string; tags?: [string, string][] };
export const dialog = signal<Dialog | undefined>(undefined);

export function Dialogs(): VNode | null {
  const open = dialog.value;
  if (!open) return null;
  const session = open.session ?? "";
  const bodies: { [kind in Dialog["kind"]]: () => VNode } = {
    export: () => <Export session={session} />, share: () => <Share session={session} />, keys: () => <Keys />,
    slim: () => <Slim session={session} />, tags: () => <Tags session={session} tags={open.tags ?? []} />,
  };
  const titles = { export: "Export", share: "Share", keys: "Keys", slim: "Slim view", tags: "Tags" };
  return <Modal title={titles[open.kind]}>{bodies[open.kind]()}</Modal>;
}

function Modal({ title, children }: { title: string; children: ComponentChildren }): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  const close = () => (dialog.value = undefined);
  return (
    <dialog ref={ref} class="modal" aria-label={title} onClose={close} onClick={(event) => event.target === ref.current && close()}>
      <header><h2>{title}</h2><button class="btn quiet icon" aria-label="Close" onClick={close}><Icon name="close" /></button></header>
      <div class="modal-b">{children}</div>
    </dialog>
  );
}

function Export({ session }: { session: string }): VNode {
  const [formats, setFormats] = useState<string[]>([]);
  const [to, setTo] = useState("anthropic.messages");
  const [redact, setRedact] = useState("secrets");
  const [report, setReport] = useState<Fields | string | undefined>(undefined);
  useEffect(() => void api.formats().then(setFormats), []);
  useEffect(() => {
    setReport(undefined);
    offer(`export ${quoted(session)} --to ${to}${redact ? ` --redact ${redact}` : ""}`, "export");
    api.losses(session, to, redact).then(setReport, (error) => setReport(String(error.message)));
  }, [to, redact]);
  const losses: Fields[] = typeof report === "object" ? (report.losses ?? []) : [];
  return (
    <>
      <label class="sel-row">Format <select value={to} onChange={(event) => setTo(event.currentTarget.value)}>{formats.map((one) => <option>{one}</option>)}</select></label>
      <label class="sel-row">Redact <select value={redact} onChange={(event) => setRedact(event.currentTarget.value)}><option value="secrets">secrets</option><option value="secrets,tool_args,tool_results">secrets, arguments and results</option><option value="">nothing</option></select></label>
      {typeof report === "string" && <p class="dead" role="alert">{report}</p>}
      {typeof report === "object" && <p><b>{losses.length ? `${plural(losses.length, "loss", "losses")}` : "Nothing is lost."}</b></p>}
      <ul class="ls">{losses.slice(0, 100).map((loss) => <li><b>{loss.kind}</b><span><code><Visible text={loss.at ?? ""} /></code> <Visible text={loss.what ?? ""} /></span></li>)}</ul>
      {losses.length > 100 && <p class="dim">and {losses.length - 100} more</p>}
      <div class="rw"><a class="btn pri" href={api.exportUrl(session, to, redact)} download>Save</a></div>
    </>
  );
}

function Share({ session }: { session: string }): VNode {
  const [shares, setShares] = useState<Fields[]>([]);
  const [days, setDays] = useState(7);
  const [made, setMade] = useState<string | undefined>(undefined);
  const [failed, setFailed] = useState<string | undefined>(undefined);
  const refresh = () => api.shares(session).then(setShares, () => setShares([]));
  useEffect(() => {
    offer(`export ${quoted(session)} --to html --redact secrets`, "one file, redacted");
    refresh();
  }, []);
  const make = () => api.share(session, days).then((share) => { setMade(new URL(share.url, location.href).href); refresh(); }, (error) => setFailed(error.message));
  return (
    <>
      <h3>One file</h3>
      <p class="dim">A page that opens from disk, without a server. Secrets are redacted.</p>
      <div class="rw"><a class="btn" href={api.exportUrl(session, "html", "secrets")} download>Save the page</a></div>
      <h3 class="gap-t">A link</h3>
      <p class="dim">Whoever has it can read this session, redacted, until it expires or you revoke it.</p>
      <div class="rw"><label>Valid for <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>{[1, 7, 30].map((n) => <option value={n}>{plural(n, "day")}</option>)}</select></label><button class="btn pri" onClick={make}>Make a link</button></div>
      {failed && <p class="dead" role="alert">{failed}</p>}
      {made && <p><input class="wide" readOnly value={made} aria-label="The link" onFocus={(event) => event.currentTarget.select()} /></p>}
      <ul class="ls">{shares.map((share) => <li><b>until {String(share.expires).slice(0, 10)}</b><span><code>{share.id}</code> <button class="acc" onClick={() => api.unshare(session, share.id).then(refresh)}>Revoke</button></span></li>)}</ul>
    </>
  );
}

function Slim({ session }: { session: string }): VNode {
  const [preset, setPreset] = useState("standard");
  const [view, setView] = useState<Fields | undefined>(undefined);
  useEffect(() => {
    offer(`slim ${quoted(session)} --preset ${preset}`, "the slim view");
    api.slim(session, preset).then(setView, () => setView(undefined));
  }, [preset]);
  return (
    <>
      <label class="sel-row">Preset <select value={preset} onChange={(event) => setPreset(event.currentTarget.value)}>{["minimal", "standard", "full"].map((name) => <option>{name}</option>)}</select></label>
      {view && <Pre text={JSON.stringify(view, null, 2).slice(0, 40_000)} />}
    </>
  );
}

function Tags({ session, tags }: { session: string; tags: [string, string][] }): VNode {
  const [text, setText] = useState(tags.map(([key, value]) => (value ? `${key}=${value}` : key)).join(" "));
  const save = async () => {
    const pairs = text.split(/\s+/).filter((word) => word).map((word) => word.split(/=(.*)/s));
    await api.tag(session, Object.fromEntries(pairs.map(([key, value]) => [key, value ?? ""])));
    dialog.value = undefined;
  };
  return (
    <form onSubmit={(event) => { event.preventDefault(); save(); }}>
      <label>Tags, separated by spaces<input class="wide" value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>
      <div class="rw"><button class="btn pri" type="submit">Save</button></div>
    </form>
  );
}

const KEYS: [string, string][] = [
  ["/", "find"], ["J K", "next, previous block or row"], ["[ ]", "previous, next turn"], [", .", "one record back, forward"], ["L", "the live end"],
  ["Enter", "fold or open"], ["1–6", "tabs"], ["A E D", "approve, edit, deny the call that waits"], ["F", "fork"], ["R", "resume"],
  ["X", "mark a session; D compares two"], ["C", "copy the command"], ["Y", "copy the link"], ["T", "theme"], ["?", "this list"], ["Esc", "close, or back to live"],
];

function Keys(): VNode {
  return <dl class="kv keys-l">{KEYS.map(([key, what]) => <><dt><kbd>{key}</kbd></dt><dd>{what}</dd></>)}</dl>;
}
