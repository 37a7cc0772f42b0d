// All sessions: what needs a person first, then what runs, then the rest. Pages are fetched as they come near the view.

import { type VNode } from "preact";
import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Fields } from "./fold";
import { type Row, Virtual } from "./virtual";
import { Icon } from "./icons";
import { CommandBar, Strip, TopBar } from "./bars";
import { Visible } from "./visible";
import { statusOf } from "./session";
import { ago, count, money, oneLine, plural, shortId } from "./text";
import { api } from "./api";
import { now, offer, sessionHash, quoted } from "./state";

const PAGE = 200;

type Attention = "needs" | "running" | "ended";
const LABELS: { [group in Attention]: [string, string] } = { needs: ["Needs you", "a person has to decide"], running: ["Running", ""], ended: ["Ended", ""] };
const GROUP: { [state: string]: Attention } = { waiting_for_human: "needs", pending: "running", in_progress: "running", waiting_for_tools: "running" };

const sessions = signal<Fields[]>([]);
const next = signal<string | null | undefined>(undefined);
const total = signal<number | undefined>(undefined);
const busy = signal(false);
const search = signal("");
const hits = signal<{ [id: string]: Fields[] } | undefined>(undefined);
const groups = signal<Set<Attention>>(new Set(["needs", "running", "ended"]));
const model = signal("");
const tag = signal("");
const sort = signal("updated");
export const chosen = signal(-1);
export const marked = signal<string[]>([]);

const attentionOf = (session: Fields): Attention => GROUP[session.status ?? ""] ?? "ended";

const visible = computed(() =>
  sessions.value.filter((session) => {
    if (hits.value && !hits.value[session.id]) return false;
    if (model.value && !(session.models ?? [session.model]).includes(model.value)) return false;
    if (tag.value && !tagsOf(session).includes(tag.value)) return false;
    return groups.value.has(attentionOf(session));
  }),
);

/** In the order of the page: groups by attention, each in the order of the list. */
export const ordered = computed(() => (["needs", "running", "ended"] as const).flatMap((group) => visible.value.filter((session) => attentionOf(session) === group)));

const tagsOf = (session: Fields): string[] =>
  (Array.isArray(session.tags) ? session.tags : Object.entries(session.tags ?? {})).map((one: any) => (Array.isArray(one) ? (one[1] ? `${one[0]}=${one[1]}` : one[0]) : String(one)));

export async function fetchPage(fresh = false): Promise<void> {
  if (busy.value || (!fresh && next.value === null)) return;
  busy.value = true;
  try {
    const query = new URLSearchParams({ limit: String(PAGE), sort: sort.value });
    if (!fresh && next.value) query.set("after", next.value);
    const page = await api.list(query);
    const known = new Set(fresh ? [] : sessions.value.map((session) => session.id));
    sessions.value = [...(fresh ? [] : sessions.value), ...page.sessions.filter((session) => !known.has(session.id))];
    next.value = page.next ?? null;
    total.value = page.total ?? (page.next ? undefined : sessions.value.length);
  } finally {
    busy.value = false;
  }
}

let pending = 0;
async function find(text: string): Promise<void> {
  search.value = text;
  offer(text ? `search ${quoted(text)}` : "ls", text ? "search" : "the list");
  const mine = ++pending;
  if (text.trim().length < 2) return void (hits.value = undefined);
  const answer = await api.search(text).catch(() => ({ hits: [] as Fields[] }));
  if (mine !== pending) return;
  const byId: { [id: string]: Fields[] } = {};
  for (const hit of answer.hits) (byId[hit.session] ??= []).push(hit);
  const missing = Object.keys(byId).filter((id) => !sessions.value.some((session) => session.id === id));
  const extra = await Promise.all(missing.slice(0, 50).map((id) => api.summary(id).catch(() => undefined)));
  sessions.value = [...sessions.value, ...extra.filter((session): session is Fields => !!session)];
  hits.value = byId;
}

export function ListPage(): VNode {
  useEffect(() => {
    document.title = "Sessions · turnkeep";
    offer("ls", "the list");
    fetchPage(true);
    const refresh = setInterval(() => document.visibilityState === "visible" && !search.value && sessions.value.length <= PAGE && fetchPage(true), 4000);
    return () => {
      clearInterval(refresh);
    };
  }, []);
  return (
    <>
      <a class="skip" href="#rows" onClick={(event) => { event.preventDefault(); document.getElementById("rows")?.focus(); }}>Skip to the sessions</a>
      <TopBar />
      <Filters />
      <Rows />
      <CommandBar><span class="keys" aria-hidden="true"><span><kbd>J</kbd><kbd>K</kbd> move</span><span><kbd>↵</kbd> open</span><span class="x"><kbd>X</kbd> mark, <kbd>D</kbd> compare two</span><span><kbd>?</kbd> keys</span></span></CommandBar>
    </>
  );
}

function Filters(): VNode {
  const counts = (group: Attention) => sessions.value.filter((session) => attentionOf(session) === group).length;
  const toggle = (group: Attention) => {
    const set = new Set(groups.value);
    set.has(group) ? set.delete(group) : set.add(group);
    groups.value = set;
  };
  const models = [...new Set(sessions.value.flatMap((session) => session.models ?? (session.model ? [session.model] : [])))].sort() as string[];
  const tags = [...new Set(sessions.value.flatMap(tagsOf))].sort();
  const found = hits.value && Object.values(hits.value).reduce((sum, list) => sum + list.length, 0);
  return (
    <section class="bar"><h1 class="vh">Sessions</h1><Strip />
      <label class="sbox"><Icon name="find" small={false} /><span class="vh">Search what was said</span>
        <input id="q" value={search.value} placeholder="Search what was said, in every session" spellcheck={false} onInput={(event) => find(event.currentTarget.value)} />
        <span class="cnt" role="status">{hits.value ? `${plural(Object.keys(hits.value).length, "session")}, ${plural(found ?? 0, "hit")}` : total.value !== undefined ? plural(total.value, "session") : `${sessions.value.length}+ sessions`}</span><kbd>/</kbd></label>
      <div class="filt" role="group" aria-label="Filters">
        {(["needs", "running", "ended"] as const).map((group) => <button class="fl" aria-pressed={groups.value.has(group)} onClick={() => toggle(group)}>{LABELS[group][0]} <b>{counts(group)}</b></button>)}
        {models.length > 0 && <label class="fl"><span class="vh">Model</span><select value={model.value} onChange={(event) => (model.value = event.currentTarget.value)}><option value="">every model</option>{models.map((name) => <option>{name}</option>)}</select></label>}
        {tags.length > 0 && <label class="fl"><span class="vh">Tag</span><select value={tag.value} onChange={(event) => (tag.value = event.currentTarget.value)}><option value="">every tag</option>{tags.map((name) => <option>{name}</option>)}</select></label>}
        <span class="sp" />
        <label class="fl"><span class="vh">Sort</span><select value={sort.value} onChange={(event) => { sort.value = event.currentTarget.value; fetchPage(true); }}><option value="updated">Last changed first</option><option value="created">Newest first</option></select></label>
      </div>
    </section>
  );
}

const scroller = (): HTMLElement => (matchMedia("(max-width:760px)").matches ? document.documentElement : (document.getElementById("rows") ?? document.documentElement));

function Rows(): VNode {
  const ref = useRef<HTMLElement>(null);
  const list = rows();
  useEffect(() => {
    const box = scroller();
    const source: EventTarget = box === document.documentElement ? window : box;
    const near = () => box.scrollTop + box.clientHeight > box.scrollHeight - 3000 && !hits.value && void fetchPage();
    source.addEventListener("scroll", near, { passive: true });
    return () => source.removeEventListener("scroll", near);
  }, []);
  return (
    <main class="rows" id="rows" tabIndex={-1} ref={ref}>
      <div class="colh grid" aria-hidden="true"><span /><span>Session</span><span>Model and agent</span><span class="r c-tn">Turns</span><span class="r">Tokens</span><span class="r">Cost</span><span class="r">Changed</span><span class="c-tag">Tags</span><span class="c-or">Origin</span></div>
      {list.length ? <Virtual rows={list} scroller={scroller} /> : <Empty />}
      <p class="hint"><span>Drop a session file of any known format here to read it. It is not stored.</span></p>
    </main>
  );
}

function Empty(): VNode {
  if (busy.value) return <div class="sk" aria-hidden="true"><i class="t" /><i class="a" /><i class="b" /><i class="b" /></div>;
  return <div class="ct"><b>{sessions.value.length ? "No session matches" : "Nothing is kept here yet"}</b><p>{sessions.value.length ? "Remove a filter, or search for other words." : "Ask something, or bring the sessions of another tool."}</p><code>turnkeep import sessions/*.jsonl</code></div>;
}

function rows(): Row[] {
  const list: Row[] = [];
  let index = -1;
  for (const group of ["needs", "running", "ended"] as const) {
    const members = visible.value.filter((session) => attentionOf(session) === group);
    if (!members.length) continue;
    const [name, why] = LABELS[group];
    list.push({ key: `g-${group}`, height: 46, render: () => <div class="grp"><b>{name}</b>{why}</div> });
    members.forEach((session, at) => {
      const mine = ++index;
      const edge = `${at === 0 ? " top-r" : ""}${at === members.length - 1 ? " bottom-r" : ""}`;
      list.push({ key: session.id, height: 53, render: () => <SessionRow session={session} index={mine} edge={edge} /> });
    });
  }
  return list;
}

function SessionRow({ session, index, edge }: { session: Fields; index: number; edge: string }): VNode {
  const [glyph, word, tone] = statusOf(session.status);
  const hit = hits.value?.[session.id]?.[0];
  const title = session.title ?? session.question ?? shortId(session.id);
  const why = attentionOf(session) === "needs" ? word : session.status === "failed" ? word : "";
  const models: string[] = session.models ?? (session.model ? [session.model] : []);
  return (
    <a class={`row grid${edge}${index === chosen.value ? " sel" : ""}${marked.value.includes(session.id) ? " marked" : ""}`} href={sessionHash(session.id, hit?.seq)} data-index={index} onFocus={() => { chosen.value = index; offer(`show ${quoted(session.id)}`, "read it in a terminal"); }}>
      <span class="stat" title={word}><Icon name={glyph} small={false} tone={tone} /><span class="vh">{word}</span></span>
      <span class="ti"><b><Visible text={oneLine(title, 160)} /></b><span class="sn">{why && <span class={`${tone ?? ""} why`}>{why}. </span>}{hit ? <Snippet hit={hit} /> : <Visible text={oneLine(session.title ? (session.question ?? "") : "", 200)} />}</span></span>
      <span class="mo c-mo">{oneLine(models.join(" → "), 60)}<small>{oneLine(session.agent ?? "", 40)}</small></span>
      <span class="r num c-tn">{session.turns ?? ""}</span>
      <span class="r num">{session.tokens ? count(session.tokens) : ""}</span>
      <span class="r num c c-co">{session.cost ? money(session.cost) : ""}</span>
      <span class="r num c-age">{ago(session.updated, now.value)}</span>
      <span class="tg c-tag">{tagsOf(session).slice(0, 3).map((name) => <span class="tag">{oneLine(name, 24)}</span>)}</span>
      <span class="c-or">{session.parent ? `fork of ${shortId(typeof session.parent === "string" ? session.parent : session.parent.session)}` : (session.origin ?? "")}</span>
    </a>
  );
}

// Marks are places in the snippet's UTF-8 bytes, because that is how the store counts.
function Snippet({ hit }: { hit: Fields }): VNode {
  const raw = new TextEncoder().encode(hit.snippet ?? "");
  const text = (from: number, to: number) => new TextDecoder().decode(raw.slice(from, to)).replace(/\s+/g, " ");
  const parts = [];
  let at = 0;
  for (const mark of hit.marks ?? []) {
    const [from, to] = Array.isArray(mark) ? mark : [mark.start, mark.end];
    parts.push(<Visible text={text(at, from)} />, <mark><Visible text={text(from, to)} /></mark>);
    at = to;
  }
  return <>{parts}<Visible text={text(at, raw.length)} /></>;
}
