// The server as the page sees it. Answers that are no success become errors with the problem's own words.

import { type Entry, type Fields } from "./fold";
import { entryOfEnvelope, readLines } from "./journal";

export class Problem extends Error {
  constructor(readonly status: number, readonly title: string, readonly detail?: string, readonly remedy?: string) {
    super(detail ?? title);
  }
}

/** Texts longer than this come when someone asks for them. */
const CUT = 16_000;
const PAGE = 1000;

const token = (): string => document.querySelector<HTMLMetaElement>('meta[name="csrf"]')?.content ?? "";

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (init.method && init.method !== "GET") headers.set("X-CSRF-Token", csrf || token());
  const response = await fetch(path, { ...init, headers, credentials: "same-origin" });
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Problem(response.status, body.title ?? response.statusText, body.detail, body.remedy);
}

const json = (body: unknown): RequestInit => ({ method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
const at = (id: string, rest = ""): string => `/v1/sessions/${encodeURIComponent(id)}${rest}`;

let csrf = "";

export interface Me {
  scope: "read" | "write" | "run" | "admin";
  tenant?: string;
  name?: string;
  endpoints: string[];
}

export const api = {
  async me(): Promise<Me> {
    const body = await (await ask("/v1/whoami")).json();
    csrf = body.csrf ?? csrf;
    const mayRun = body.scope === "run" || body.scope === "admin";
    const endpoints = mayRun ? (await (await ask("/v1/endpoints")).json()).endpoints : [];
    return { ...body, endpoints: endpoints.map((one: any) => (typeof one === "string" ? one : one.name)) };
  },
  async signIn(secret: string): Promise<Me> {
    const response = await fetch("/v1/login", { ...json({}), headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" }, credentials: "same-origin" });
    if (!response.ok) throw new Problem(response.status, "the token was refused");
    return api.me();
  },
  async list(query: URLSearchParams): Promise<{ sessions: Fields[]; next?: string | null; total?: number }> {
    return (await ask(`/v1/sessions?${query}`)).json();
  },
  async summary(id: string): Promise<Fields> {
    return (await ask(at(id))).json();
  },
  async search(text: string): Promise<{ hits: Fields[]; total?: number }> {
    return (await ask(`/v1/search?q=${encodeURIComponent(text)}&limit=200`)).json();
  },
  /** Reads the journal after a record and hands entries over as they arrive. */
  async journal(id: string, after: number, take: (entries: Entry[]) => void, signal?: AbortSignal): Promise<void> {
    for (let next = after, more = true; more; ) {
      const response = await ask(at(id, `/journal?after=${next}&limit=${PAGE}&cut=${CUT}`), { signal });
      if (response.body) await readLines(response.body, take);
      more = response.headers.get("Turnkeep-More") === "true";
      next = Number(response.headers.get("Turnkeep-Seq") ?? 0);
    }
  },
  /** One record as it is stored, with nothing shortened. */
  async record(id: string, seq: number): Promise<Fields> {
    return (await ask(at(id, `/records/${seq}`))).json();
  },
  live(id: string, after: number, handlers: { entry: (entry: Entry) => void; chunk: (text: string) => void; lost: () => void; open: () => void }): () => void {
    const source = new EventSource(at(id, `/events?after=${after}`), { withCredentials: true });
    source.onopen = handlers.open;
    source.onerror = handlers.lost;
    const take = (event: MessageEvent) => {
      const envelope = JSON.parse(event.data);
      const entry = entryOfEnvelope(envelope);
      if (entry) handlers.entry(entry);
      else if (envelope.type === "answer.delta") handlers.chunk(envelope.payload?.text ?? "");
    };
    source.onmessage = take;
    for (const type of TYPES) source.addEventListener(type, take as EventListener);
    return () => source.close();
  },
  ask: (id: string, text: string, endpoint?: string) => ask(at(id, "/ask"), json({ text, endpoint })),
  resume: (id: string, endpoint?: string) => ask(at(id, "/resume"), json({ endpoint })),
  stop: (id: string) => ask(at(id, "/stop"), json({})),
  approve: (id: string, call: string, digest: string, args?: string) =>
    ask(at(id, `/calls/${encodeURIComponent(call)}/approve`), json({ digest, arguments: args })),
  deny: (id: string, call: string, digest: string, reason: string) =>
    ask(at(id, `/calls/${encodeURIComponent(call)}/deny`), json({ digest, reason: reason || undefined })),
  resolve: (id: string, call: string, body: Fields) => ask(at(id, `/calls/${encodeURIComponent(call)}/resolve`), json(body)),
  async fork(id: string, seq?: number): Promise<string> {
    return (await (await ask(at(id, "/fork"), json({ at: seq }))).json()).session;
  },
  tag: (id: string, tags: Fields) => ask(at(id), { ...json({ tags }), method: "PATCH" }),
  async losses(id: string, to: string, redact: string): Promise<Fields> {
    return (await ask(at(id, `/export?to=${encodeURIComponent(to)}&redact=${redact}&as=report`))).json();
  },
  exportUrl: (id: string, to: string, redact: string) => at(id, `/export?to=${encodeURIComponent(to)}&redact=${redact}&as=file`),
  async lint(id: string, target: string): Promise<Fields[]> {
    return (await (await ask(at(id, `/lint?for=${encodeURIComponent(target)}`))).json()).findings;
  },
  async slim(id: string, preset: string): Promise<Fields> {
    return (await ask(at(id, `/slim?preset=${preset}`))).json();
  },
  async formats(): Promise<string[]> {
    return (await (await ask("/v1/formats")).json()).formats;
  },
  /** A file of any known format as a journal. It is not stored. */
  async open(file: Blob): Promise<{ text: string; format: string; losses: Fields[] }> {
    const response = await ask("/v1/convert?to=turnkeep.jsonl", { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } });
    const body = await response.json();
    return { text: body.document, format: body.from, losses: body.losses };
  },
  async share(id: string, days: number): Promise<Fields> {
    return (await ask(at(id, "/shares"), json({ days }))).json();
  },
  async shares(id: string): Promise<Fields[]> {
    return (await (await ask(at(id, "/shares"))).json()).shares;
  },
  unshare: (id: string, share: string) => ask(at(id, `/shares/${encodeURIComponent(share)}`), { method: "DELETE" }),
};

/** Types of events, because EventSource listens to each by its name. */
const TYPES = [
  "session.opened", "session.changed", "session.condensed", "run.started", "run.stopped", "turn.opened", "turn.closed",
  "endpoint.chosen", "model.asked", "model.answered", "model.failed", "loss.noted", "block.added", "tool.intended",
  "tool.settled", "tool.resolved", "approval.asked", "approval.given", "compensation.intended", "compensation.settled",
  "slice.changed", "log.added", "usage.added", "answer.delta",
];
