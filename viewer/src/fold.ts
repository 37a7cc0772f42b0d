// The fold of a journal, as `crates/model/src/fold.rs` has it. Tests run both over the same journals and compare the sessions.

import { addDecimals } from "./decimal";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: any };

/** One record of a journal: an event with its place. `cut` says how long texts are that the server shortened, by path. */
export interface Entry {
  seq: number;
  time?: string;
  run?: string;
  event: Fields;
  cut?: { [path: string]: number };
}

export interface Session extends Fields {
  turns: Fields[];
  runs: Fields[];
  slices: Fields[];
  logs: string[];
  usage: Fields;
}

export function emptySession(id?: string): Session {
  const session: Session = { turns: [], runs: [], slices: [], logs: [], usage: {} };
  if (id !== undefined) session.id = id;
  return session;
}

/** Applies one event. Objects of the event are never changed: a journal can be folded again. */
export function apply(session: Session, event: Fields): Session {
  const step = STEPS[event.type];
  return step ? step(session, event) : session;
}

const STEPS: { [type: string]: (session: Session, event: Fields) => Session } = {
  "session.opened": (_, event) => opened(event.session ?? {}),
  "session.changed": (session, event) => ({ ...session, ...known(event, CHANGEABLE) }),
  "session.condensed": condensed,
  "run.started": (session, event) => push(session, "runs", event.run ?? {}),
  "run.stopped": stopped,
  "turn.opened": (session, event) => push(session, "turns", owned(event.turn ?? {})),
  "turn.closed": (session, event) => changeTurn(session, event.turn, (turn) => closed(turn, event)),
  "block.added": (session, event) =>
    changeTurn(session, event.turn, (turn) => void (turn.blocks ??= []).push(event.block)),
  "model.failed": (session, event) =>
    event.partial?.length
      ? changeTurn(session, event.turn, (turn) => void (turn.interrupted = [...(turn.interrupted ?? []), ...event.partial]))
      : session,
  "slice.changed": changedSlice,
  "log.added": (session, event) => push(session, "logs", event.line),
  "usage.added": (session, event) => ({ ...session, usage: addUsage(session.usage, event.usage ?? {}) }),
};

const CHANGEABLE = ["title", "prompt", "options", "tools", "response_format", "status", "timing", "tags", "metadata"];
const CLOSABLE = ["finish", "continuation", "usage", "timing", "run", "provider", "api", "model", "account", "provider_payload"];
const KEPT_OF_CONDENSED = ["id", "run", "evaluation", "provider", "api", "model", "account", "usage", "timing", "finish"];

function opened(session: Fields): Session {
  const lists = { turns: (session.turns ?? []).map(owned), runs: [...(session.runs ?? [])], slices: [...(session.slices ?? [])] };
  return { ...session, ...lists, logs: [...(session.logs ?? [])], usage: session.usage ?? {} };
}

/** A turn whose list of blocks may grow. */
function owned(turn: Fields): Fields {
  return turn.blocks ? { ...turn, blocks: [...turn.blocks] } : { ...turn };
}

function known(from: Fields, keys: string[]): Fields {
  const taken: Fields = {};
  for (const key of keys) if (from[key] !== undefined && from[key] !== null) taken[key] = from[key];
  return taken;
}

// Lists grow in place: the fold owns them, and copying them for every record would make a long journal quadratic.
function push(session: Session, list: string, item: unknown): Session {
  (session[list] as unknown[]).push(item);
  return session;
}

function changeTurn(session: Session, index: number, change: (turn: Fields) => void): Session {
  const turn = session.turns[index];
  if (!turn) throw new Error(`the journal names turn ${index}, which was never opened`);
  change(turn);
  return session;
}

function closed(turn: Fields, event: Fields): void {
  Object.assign(turn, known(event, CLOSABLE));
  if (event.errors?.length) turn.errors = [...(turn.errors ?? []), ...event.errors];
}

function stopped(session: Session, event: Fields): Session {
  if (event.status) session.status = event.status;
  const at = session.runs.findLastIndex((run) => event.run === undefined || run.id === event.run);
  if (at < 0) return session;
  const { status: _, stop_reason: __, ...rest } = session.runs[at];
  const run: Fields = { ...rest, timing: { ...(rest.timing ?? {}) } };
  if (event.status) run.status = event.status;
  if (event.reason) run.stop_reason = event.reason;
  delete run.timing.completed;
  if (event.completed) run.timing.completed = event.completed;
  session.runs[at] = run;
  return session;
}

function changedSlice(session: Session, event: Fields): Session {
  let at = session.slices.findIndex((slice) => slice.name === event.name);
  if (at < 0) at = session.slices.push({ name: event.name }) - 1;
  const slice = { ...session.slices[at], ...known(event, ["version", "policy"]) };
  const items = event.items ?? [];
  slice.items = event.op === "append" ? [...(slice.items ?? []), ...items] : event.op === "replace" ? items : [];
  session.slices[at] = slice;
  return session;
}

const ordinal = (block: Fields): number => block.message?.ordinal ?? 0;
const instructs = (block: Fields): boolean =>
  (block.author === "system" || block.author === "developer") && block.type !== "summary";

function condensed(session: Session, event: Fields): Session {
  const turns = session.turns.slice(event.from, event.to + 1);
  const going = turns.flatMap((turn) => turn.blocks ?? []).filter((block) => !instructs(block));
  const first = going.length ? Math.min(...going.map(ordinal)) : ordinal(event.block);
  turns.forEach((turn, index) => {
    const kept = known(turn, KEPT_OF_CONDENSED);
    session.turns[event.from + index] = { ...kept, blocks: (turn.blocks ?? []).filter(instructs) };
  });
  const target = session.turns[event.from];
  if (!target) throw new Error(`a summary stands for turns ${event.from} to ${event.to}, which were never opened`);
  // The first place is not written.
  const { ordinal: _, ...key } = event.block.message ?? {};
  const block = { ...event.block, message: first ? { ...key, ordinal: first } : key };
  const later = target.blocks.findIndex((other: Fields) => ordinal(other) > first);
  target.blocks.splice(later < 0 ? target.blocks.length : later, 0, block);
  return session;
}

const COUNTS = ["input", "output", "cached_read", "cached_write", "reasoning", "total", "requests"];

/** The sum of two counts of tokens and money. */
export function addUsage(own: Fields, more: Fields): Fields {
  if (Object.keys(own).length === 0) return more;
  const sum: Fields = { ...own };
  for (const count of COUNTS) if (more[count] !== undefined) sum[count] = (own[count] ?? 0) + more[count];
  if (more.cost !== undefined) sum.cost = own.cost === undefined ? more.cost : addDecimals(own.cost, more.cost);
  if (more.by_model) sum.by_model = addByModel(own.by_model ?? [], more.by_model);
  return sum;
}

function addByModel(own: any, more: any): any {
  const pairs = (map: any): [string, Fields][] => (Array.isArray(map) ? map : Object.entries(map));
  const sum = new Map<string, Fields>(pairs(own));
  for (const [model, usage] of pairs(more)) sum.set(model, addUsage(sum.get(model) ?? {}, usage));
  return Array.isArray(more) ? [...sum] : Object.fromEntries(sum);
}
