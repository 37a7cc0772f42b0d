// One sentence that says what died, what was repeated, what was not, and what waits. Each clause links to its record.

import { type Story, stateOf } from "./story";
import { clock, inWords, oneLine } from "./text";

export interface Clause {
  text: string;
  seq?: number;
  tone?: "dead" | "need";
}

const list = (names: string[]): string =>
  names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** The account of a story, as clauses. */
export function account(story: Story): Clause[] {
  return [...kills(story), ...models(story), ...waiting(story), ...ending(story)];
}

function kills(story: Story): Clause[] {
  const [first] = story.tears;
  if (!first) return [];
  const times = story.tears.length === 1 ? "Killed once" : `Killed ${inWords(story.tears.length)} times`;
  const calls = [...new Set(story.tears.flatMap((tear) => tear.open))].flatMap((id) => story.calls.get(id) ?? []);
  const open = story.tears.flatMap((tear) => tear.open).length;
  const when = story.tears.length === 1 ? ` at ${clock(first.before.time)}` : "";
  const clauses: Clause[] = [
    { text: times, seq: first.resumed.started.seq, tone: "dead" },
    { text: `${when} with ${inWords(open)} ${open === 1 ? "call" : "calls"} open. ` },
  ];
  const repeated = calls.filter((call) => call.intents.length > 1);
  const looked = calls.filter((call) => call.intents.length === 1 && (call.settled || call.result));
  for (const call of looked) {
    clauses.push({ text: oneLine(call.name, 40), seq: call.at.seq }, { text: " was not repeated; its outcome was looked up. " });
  }
  if (repeated.length) {
    const verb = repeated.length === 1 ? "was" : "were";
    clauses.push({ text: `${list(repeated.map((call) => oneLine(call.name, 40)))} ${verb} run again. ` });
  }
  return clauses;
}

function models(story: Story): Clause[] {
  const used = story.endpoints.map((one) => one.model).filter((model) => !!model) as string[];
  const changed = used.filter((model, index) => index > 0 && model !== used[index - 1]);
  return changed.length ? [{ text: `It continued on ${oneLine(changed.at(-1)!, 60)}. ` }] : [];
}

function waiting(story: Story): Clause[] {
  const clauses: Clause[] = [];
  for (const call of story.calls.values()) {
    const state = stateOf(call, story);
    const name = oneLine(call.name, 40);
    if (state === "waits") clauses.push({ text: `${name} waits for you`, seq: call.at.seq, tone: "need" }, { text: ". " });
    if (state === "unsure") {
      clauses.push({ text: `${name} may have acted`, seq: call.at.seq, tone: "need" }, { text: "; nobody knows. " });
    }
  }
  return clauses;
}

function ending(story: Story): Clause[] {
  const status = story.session.status;
  if (status?.state === "failed") return [{ text: `It failed: ${oneLine(status.error ?? "", 200)}`, tone: "dead" }];
  if (status?.state === "completed" && story.tears.length) return [{ text: "It completed." }];
  return [];
}
