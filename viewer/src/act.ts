// What a person does here. Everything goes to the server; what it says comes back as records.

import { signal } from "@preact/signals";
import { type Me, Problem, api } from "./api";
import { type Fields } from "./fold";
import { type Call } from "./story";
import { notice, readOnly, sessionHash } from "./state";

export const me = signal<Me | undefined>(undefined);
/** What was sent and has not come back as a record yet, by call. */
export const sent = signal<{ [call: string]: string }>({});

/** Each scope allows what the ones before it do. */
const SCOPES = ["none", "read", "write", "run", "admin"];

export function can(scope: "read" | "write" | "run"): boolean {
  if (readOnly.value) return false;
  const held = SCOPES.indexOf(me.value?.scope ?? "none");
  return held >= SCOPES.indexOf(scope);
}

async function tried(what: string, deed: () => Promise<unknown>): Promise<boolean> {
  try {
    await deed();
    notice.value = undefined;
    return true;
  } catch (error) {
    const remedy = error instanceof Problem && error.remedy ? ` ${error.remedy}` : "";
    notice.value = { text: `${what}: ${(error as Error).message}.${remedy}`, tone: "dead" };
    return false;
  }
}

async function decide(call: Call, word: string, deed: () => Promise<unknown>): Promise<void> {
  sent.value = { ...sent.value, [call.id]: `${word}; waiting for the record` };
  const done = await tried(`${call.name} was not decided`, deed);
  if (!done) sent.value = { ...sent.value, [call.id]: notice.value?.text ?? "refused" };
}

export const act = {
  ask: (id: string, text: string, endpoint?: string) => tried("The question was not recorded", () => api.ask(id, text, endpoint)),
  resume: (id: string, endpoint?: string) => tried("The session was not resumed", () => api.resume(id, endpoint)),
  stop: (id: string) => tried("The run was not stopped", () => api.stop(id)),
  approve: (id: string, call: Call, args?: string) => decide(call, "Approved", () => api.approve(id, call.id, call.asked?.digest ?? "", args)),
  deny: (id: string, call: Call, reason: string) => decide(call, "Denied", () => api.deny(id, call.id, call.asked?.digest ?? "", reason)),
  resolve: (id: string, call: Call, body: Fields) => tried(`${call.name} was not resolved`, () => api.resolve(id, call.id, body)),
  fork: (id: string, seq?: number) => tried("The session was not forked", async () => {
    location.hash = sessionHash(await api.fork(id, seq));
  }),
  tag: (id: string, tags: Fields) => tried("The tags were not changed", () => api.tag(id, tags)),
};
