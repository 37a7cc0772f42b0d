// What the page knows: where it is, how it is connected, the session it shows. Signals, so that only what changed is drawn again.

import { computed, signal } from "@preact/signals";
import { type Story, newStory, storyUntil } from "./story";
import { account } from "./account";
import { timeline } from "./timeline";

export type Route = { page: "list" } | { page: "session"; id: string; seq?: number } | { page: "diff"; left: string; right: string } | { page: "file" };

export function parseRoute(hash: string): Route {
  const [path, query] = hash.replace(/^#/, "").split("?");
  const parts = path.split("/").filter((part) => part).map(decodeURIComponent);
  const seq = Number(new URLSearchParams(query ?? "").get("seq"));
  if (parts[0] === "s" && parts[1]) return { page: "session", id: parts[1], seq: seq > 0 ? seq : undefined };
  if (parts[0] === "diff" && parts[2]) return { page: "diff", left: parts[1], right: parts[2] };
  if (parts[0] === "file") return { page: "file" };
  return { page: "list" };
}

export const sessionHash = (id: string, seq?: number): string => `#/s/${encodeURIComponent(id)}${seq ? `?seq=${seq}` : ""}`;

export const route = signal<Route>(parseRoute(location.hash));

export type Connection = { state: "idle" | "loading" | "live" | "static"; } | { state: "lost"; since: number };
export const connection = signal<Connection>({ state: "idle" });

/** A session that is shown. `version` grows with every record, because the story grows in place. */
export const story = signal<Story>(newStory());
export const version = signal(0);
/** The record up to which the session is shown; the live end if it is not set. */
export const scrub = signal<number | undefined>(undefined);
/** The answer that arrives now; it goes when its block is there. */
export const streaming = signal("");
export const readOnly = signal(false);
export const notice = signal<{ text: string; tone?: "dead" | "need" } | undefined>(undefined);

export const shown = computed<Story>(() => {
  version.value;
  const seq = scrub.value;
  const whole = story.value;
  // The story grows in place: only a new object tells those who read this that it did.
  return seq === undefined || seq >= (whole.last?.seq ?? 0) ? { ...whole } : storyUntil(whole, seq);
});
export const clauses = computed(() => (version.value, account(shown.value)));
/** Times grow while a run lives; the page draws again at most once a second. */
export const now = signal(Date.now());
export const line = computed(() => (version.value, timeline(story.value, story.value.runs.at(-1)?.stopped ? undefined : now.value)));

/** The command that does the same in a terminal. */
export const command = signal<{ text: string; why: string }>({ text: "turnkeep ls", why: "the list" });

export function offer(text: string, why: string): void {
  command.value = { text: `turnkeep ${text}`, why };
}

/** A word as a shell takes it. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** Something asked to be seen: a record, with a number that changes with each request. */
export const target = signal<{ seq: number; nonce: number; block?: "start" | "end" } | undefined>(undefined);

let nonce = 0;
export function reveal(seq: number, block: "start" | "end" = "start"): void {
  target.value = { seq, nonce: ++nonce, block };
}
