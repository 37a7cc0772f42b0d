// The page: which view, where its data comes from, and the keys.

import { type VNode, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { Problem, api } from "./api";
import { entriesOfLine } from "./journal";
import { newStory, tell } from "./story";
import { type Entry } from "./fold";
import { connection, notice, now, parseRoute, readOnly, reveal, route, scrub, sessionHash, shown, story, streaming, target, version } from "./state";
import { SessionPage } from "./session";
import { ListPage, chosen, marked, ordered } from "./list";
import { DiffPage } from "./diff";
import { Dialogs, dialog } from "./dialogs";
import { openTab, tabAt } from "./inspector";
import { copyCommand, theme } from "./bars";
import { act, can, me } from "./act";
import { Brand } from "./icons";

const signedOut = signal(false);

function App(): VNode {
  if (signedOut.value) return <SignIn />;
  const here = route.value;
  // Before anything is measured: the class decides what scrolls.
  document.body.className = here.page === "file" ? "session" : here.page;
  const page = here.page === "list" ? <ListPage /> : here.page === "diff" ? <DiffPage left={here.left} right={here.right} />
    : here.page === "file" ? <SessionPage id={story.value.session.id ?? "file"} /> : <SessionPage key={here.id} id={here.id} />;
  return <>{page}<Dialogs /><DropZone /></>;
}

function SignIn(): VNode {
  const [secret, setSecret] = useState("");
  const [failed, setFailed] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      me.value = await api.signIn(secret.trim());
      signedOut.value = false;
      show();
    } catch (error) {
      setFailed((error as Error).message);
    }
  };
  return (
    <main class="signin"><form onSubmit={submit}><h1 class="brand"><Brand /><span>turnkeep</span></h1>
      <label>Token<input type="password" autocomplete="current-password" value={secret} onInput={(event) => setSecret(event.currentTarget.value)} /></label>
      {failed && <p class="dead" role="alert">{failed}</p>}
      <button class="btn pri" type="submit">Sign in</button>
      <p class="dim">An operator makes one with <code>turnkeep token new --scope read</code>.</p></form></main>
  );
}

// Records are told in one go for every frame, however many arrived.
let waiting: Entry[] = [];
let frame = 0;

function take(entries: Entry[]): void {
  waiting.push(...entries);
  frame ||= requestAnimationFrame(flush);
}

function flush(): void {
  frame = 0;
  const batch = waiting;
  waiting = [];
  for (const entry of batch) {
    const verdict = tell(story.value, entry);
    if (verdict === "gap") return void refetch();
    if (verdict === "told" && (entry.event.type === "block.added" || entry.event.type === "model.failed" || entry.event.type === "run.stopped")) streaming.value = "";
  }
  version.value++;
}

let stop: (() => void) | undefined;
let loading: AbortController | undefined;

async function refetch(): Promise<void> {
  const here = route.value;
  if (here.page !== "session") return;
  flush();
  await api.journal(here.id, story.value.last?.seq ?? 0, take, loading?.signal).catch(() => undefined);
}

async function openSession(id: string, seq?: number): Promise<void> {
  stop?.();
  loading?.abort();
  loading = new AbortController();
  const mine = loading;
  story.value = newStory(id);
  scrub.value = undefined;
  streaming.value = "";
  target.value = undefined;
  version.value++;
  connection.value = { state: "loading" };
  try {
    await api.journal(id, 0, (entries) => mine === loading && take(entries), mine.signal);
  } catch (error) {
    if (mine.signal.aborted) return;
    return fail(error);
  }
  flush();
  if (seq) reveal(seq);
  else if (shown.value.runs.at(-1) && !shown.value.runs.at(-1)?.stopped) reveal(story.value.last?.seq ?? 0, "end");
  stop = api.live(id, story.value.last?.seq ?? 0, {
    entry: (entry) => take([entry]),
    chunk: (text) => (streaming.value += text),
    open: () => (connection.value = { state: "live" }),
    lost: () => (connection.value = { state: "lost", since: Date.now() }),
  });
}

function fail(error: unknown): void {
  connection.value = { state: "idle" };
  if (error instanceof Problem && error.status === 401) return void (signedOut.value = true);
  notice.value = { text: (error as Error).message, tone: "dead" };
}

let open: string | undefined;

async function show(): Promise<void> {
  const here = (route.value = parseRoute(location.hash));
  readOnly.value = here.page === "file";
  if (here.page === "file") {
    if (!story.value.entries.length) location.hash = "#/";
    return;
  }
  if (!me.value) me.value = await api.me().catch((error) => (fail(error), undefined));
  if (!me.value) return;
  if (here.page !== "session") {
    stop?.();
    open = undefined;
    connection.value = { state: "idle" };
    return;
  }
  if (open === here.id) return void (here.seq && reveal(here.seq));
  open = here.id;
  await openSession(here.id, here.seq);
}

/** Shows a journal that came with the page or from a file. */
function showText(text: string, name?: string): void {
  stop?.();
  story.value = newStory(name);
  for (const line of text.split("\n")) for (const entry of entriesOfLine(line)) tell(story.value, entry);
  story.value.session.id ??= name;
  scrub.value = undefined;
  readOnly.value = true;
  connection.value = { state: "static" };
  version.value++;
}

function DropZone(): VNode | null {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const drag = (event: DragEvent) => { event.preventDefault(); setOver(event.type === "dragover"); };
    const drop = async (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file) await openFile(file);
    };
    document.addEventListener("dragover", drag);
    document.addEventListener("dragleave", drag);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", drag);
      document.removeEventListener("dragleave", drag);
      document.removeEventListener("drop", drop);
    };
  }, []);
  return over ? <div class="dropzone" aria-hidden="true"><div class="drop"><b>Drop to read it</b>It is shown the same way, and not stored.</div></div> : null;
}

async function openFile(file: File): Promise<void> {
  try {
    const opened = await api.open(file);
    showText(opened.text, file.name);
    open = undefined;
    const lost = opened.losses.length;
    notice.value = { text: `${file.name} is ${opened.format}. ${lost ? `Reading it lost ${lost} things.` : "Nothing was lost."}`, tone: lost ? "need" : undefined };
    location.hash = "#/file";
    route.value = { page: "file" };
  } catch (error) {
    notice.value = { text: `${file.name}: ${(error as Error).message}`, tone: "dead" };
  }
}

function blocksInView(): HTMLElement[] {
  return Array.from(document.querySelectorAll<HTMLElement>(".e[data-seq]"));
}

function move(by: number): void {
  if (route.value.page === "list") {
    chosen.value = Math.max(0, Math.min(ordered.value.length - 1, chosen.value + by));
    const row = document.querySelector<HTMLElement>(`[data-index="${chosen.value}"]`);
    row?.focus();
    row?.scrollIntoView({ block: "nearest" });
    return;
  }
  const seqs = shown.value.turns.flatMap((turn) => turn.blocks).filter((one) => one.block.type !== "tool_result").map((one) => one.at.seq);
  const here = target.value?.seq ?? Number(blocksInView()[0]?.dataset.seq ?? 0);
  const next = by > 0 ? seqs.find((seq) => seq > here) : seqs.findLast((seq) => seq < here);
  if (next) reveal(next);
}

function moveTurn(by: number): void {
  const here = target.value?.seq ?? 0;
  const turns = shown.value.turns.map((turn) => turn.blocks[0]?.at.seq ?? turn.at.seq);
  const next = by > 0 ? turns.find((seq) => seq > here) : turns.findLast((seq) => seq < here);
  if (next) reveal(next);
}

function scrubBy(by: number): void {
  const last = story.value.last?.seq ?? 0;
  const next = (scrub.value ?? last) + by;
  scrub.value = next >= last ? undefined : Math.max(1, next);
  reveal(Math.max(1, Math.min(last, next)));
}

const press = (key: string) => document.querySelector<HTMLElement>(`.ask [data-key="${key}"]`)?.click();
const inSession = () => route.value.page === "session" || route.value.page === "file";

const KEYS: { [key: string]: () => void } = {
  j: () => move(1), k: () => move(-1), "]": () => moveTurn(1), "[": () => moveTurn(-1), ".": () => scrubBy(1), ",": () => scrubBy(-1),
  l: () => { scrub.value = undefined; if (story.value.last) reveal(story.value.last.seq, "end"); },
  "/": () => { document.getElementById("q")?.focus(); document.getElementById("find")?.click(); },
  a: () => press("a"), e: () => press("e"),
  d: () => (route.value.page === "list" && marked.value.length === 2 ? (location.hash = `#/diff/${marked.value.map(encodeURIComponent).join("/")}`) : press("d")),
  f: () => inSession() && can("write") && act.fork(story.value.session.id ?? "", scrub.value),
  r: () => inSession() && can("run") && act.resume(story.value.session.id ?? ""),
  x: () => { const id = ordered.value[chosen.value]?.id; if (id) marked.value = marked.value.includes(id) ? marked.value.filter((one) => one !== id) : [...marked.value.slice(-1), id]; },
  c: () => void copyCommand(), t: theme, "?": () => (dialog.value = { kind: "keys" }),
  y: () => void navigator.clipboard.writeText(new URL(sessionHash(story.value.session.id ?? "", target.value?.seq), location.href).href),
  Escape: () => { if (scrub.value !== undefined) scrub.value = undefined; },
};

function onKey(event: KeyboardEvent): void {
  const at = event.target as HTMLElement;
  if (event.metaKey || event.ctrlKey || event.altKey || /INPUT|TEXTAREA|SELECT/.test(at.tagName) || at.isContentEditable || dialog.value) return;
  const tab = /^[1-6]$/.test(event.key) && inSession() ? tabAt(Number(event.key) - 1) : undefined;
  if (tab) return openTab(tab, story.value.session.id ?? "");
  const deed = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!deed) return;
  event.preventDefault();
  deed();
}

function start(): void {
  const root = document.documentElement;
  root.dataset.theme = matchMedia("(prefers-color-scheme:dark)").matches ? "dark" : "light";
  const data = document.getElementById("journal");
  setInterval(() => (now.value = Date.now()), 1000);
  document.addEventListener("keydown", onKey);
  if (data) {
    // A page that was exported: the journal is in it, and nothing is fetched.
    showText(JSON.parse(data.textContent ?? '""'));
    route.value = { page: "file" };
  } else {
    addEventListener("hashchange", show);
    show();
  }
  render(<App />, document.getElementById("app")!);
}

start();
