// What the page shows of a journal: turns with the records of their blocks, calls with their evidence, runs, kills and resumes.
// A pure function of entries, like the fold; a story up to an earlier record is the session as it was then.

import { type Entry, type Fields, type Session, apply, emptySession } from "./fold";

export type CallState = "open" | "waits" | "begun" | "settled" | "repeated" | "unsure" | "failed" | "denied";

export interface Moment {
  seq: number;
  time?: string;
  run?: string;
}

export interface Call {
  id: string;
  name: string;
  arguments: string;
  turn: number;
  at: Moment;
  effect?: string;
  key?: string;
  intents: Moment[];
  settled?: Moment & { outcome: string; seconds?: number };
  result?: Fields;
  resultAt?: Moment;
  asked?: Moment & { digest: string; expires?: string; reason?: string };
  given?: Moment & { verdict: string; by?: string; reason?: string; arguments?: string };
  resolved?: Moment & { resolution: string; by?: string };
  /** Kills that happened while nobody knew its outcome. */
  kills: number[];
}

export interface Shown {
  at: Moment;
  block: Fields;
  /** The path of the block in the session: `turns[0].blocks[2]`. */
  path: string;
  cut?: { [path: string]: number };
}

export interface Try extends Moment {
  end?: Moment;
  failure?: { cause: string; message?: string; wait?: number };
  model?: string;
}

export interface TurnStory {
  index: number;
  at: Moment;
  last: Moment;
  blocks: Shown[];
  interrupted: Shown[];
  tries: Try[];
  losses: { at: Moment; loss: Fields }[];
  condensed?: { from: number; to: number };
}

export interface Run {
  number: number;
  id?: string;
  process?: string;
  started: Moment;
  stopped?: Moment & { status?: Fields; reason?: string };
  /** The last record of a run that never said that it stopped, once another one began. */
  killed?: Moment;
}

export interface Tear {
  killed: Run;
  resumed: Run;
  /** The last record before the kill. */
  before: Moment;
  open: string[];
  models: [string | undefined, string | undefined];
}

export interface Story {
  session: Session;
  entries: Entry[];
  turns: TurnStory[];
  calls: Map<string, Call>;
  runs: Run[];
  tears: Tear[];
  endpoints: { at: Moment; model?: string; provider?: string; choice?: string }[];
  last?: Moment;
  damage?: string;
}

export function newStory(id?: string): Story {
  return {
    session: emptySession(id), entries: [], turns: [], calls: new Map(), runs: [], tears: [], endpoints: [],
  };
}

/** The story of the first entries of another one. */
export function storyUntil(story: Story, seq: number): Story {
  const past = newStory(story.session.id);
  for (const entry of story.entries) {
    if (entry.seq > seq) break;
    tell(past, entry);
  }
  return past;
}

/** Adds one entry. An entry that was told already is passed over; after a gap nothing is told. */
export function tell(story: Story, entry: Entry): "told" | "known" | "gap" {
  const last = story.last?.seq ?? 0;
  if (entry.seq <= last) return "known";
  if (entry.seq > last + 1 && last > 0) return "gap";
  const moment: Moment = { seq: entry.seq, time: entry.time, run: entry.run };
  try {
    story.session = apply(story.session, entry.event);
  } catch (error) {
    story.damage ??= `record ${entry.seq}: ${(error as Error).message}`;
  }
  story.entries.push(entry);
  CHAPTERS[entry.event.type]?.(story, entry.event, moment, entry);
  const turn = story.turns.at(-1);
  if (turn && entry.event.turn === turn.index) turn.last = moment;
  story.last = moment;
  return "told";
}

type Chapter = (story: Story, event: Fields, at: Moment, entry: Entry) => void;

const CHAPTERS: { [type: string]: Chapter } = {
  "run.started": runStarted,
  "run.stopped": (story, event, at) => {
    const run = story.runs.findLast((run) => event.run === undefined || run.id === event.run);
    if (run) run.stopped = { ...at, status: event.status, reason: event.reason };
  },
  "endpoint.chosen": (story, event, at) =>
    void story.endpoints.push({ at, model: event.model, provider: event.provider, choice: event.choice }),
  "turn.opened": turnOpened,
  "block.added": (story, event, at, entry) => addBlock(story, event.turn, event.block, at, entry.cut),
  "model.asked": (story, event, at) =>
    void story.turns[event.turn]?.tries.push({ ...at, model: story.endpoints.at(-1)?.model }),
  "model.answered": (story, event, at) => void endTry(story, event.turn, at),
  "model.failed": modelFailed,
  "turn.closed": (story, event, at) => void endTry(story, event.turn, at),
  "loss.noted": (story, event, at) => {
    const { type: _, turn, ...loss } = event;
    story.turns[turn]?.losses.push({ at, loss });
  },
  "session.condensed": (story, event, at) => {
    const first = story.turns[event.from];
    for (let index = event.from; index <= event.to; index++) {
      const turn = story.turns[index];
      if (turn) turn.blocks = turn.blocks.filter((shown) => shown.block.author === "system");
    }
    if (!first) return;
    first.condensed = { from: event.from, to: event.to };
    first.blocks.push({ at, block: event.block, path: `turns[${event.from}].blocks[0]` });
  },
  "tool.intended": (story, event, at) => {
    const call = story.calls.get(String(event.call));
    if (!call) return;
    call.effect = event.effect;
    call.key = event.key ?? call.key;
    call.intents.push(at);
    call.settled = undefined;
  },
  "tool.settled": (story, event, at) => {
    const call = story.calls.get(String(event.call));
    if (call) call.settled = { ...at, outcome: event.outcome, seconds: event.seconds };
  },
  "tool.resolved": (story, event, at) => {
    const call = story.calls.get(String(event.call));
    if (call) call.resolved = { ...at, resolution: event.resolution, by: event.by };
  },
  "approval.asked": (story, event, at) => {
    const call = story.calls.get(String(event.call));
    if (call) call.asked = { ...at, digest: event.digest, expires: event.expires, reason: event.reason };
    if (call) call.given = undefined;
  },
  "approval.given": (story, event, at) => {
    const call = story.calls.get(String(event.call));
    if (!call || call.given || call.asked?.digest !== event.digest) return;
    call.given = { ...at, verdict: event.verdict, by: event.by, reason: event.reason, arguments: event.arguments };
  },
};

function runStarted(story: Story, event: Fields, at: Moment): void {
  const run: Run = {
    number: story.runs.length + 1, id: event.run?.id ?? at.run, process: event.run?.process, started: at,
  };
  const before = story.runs.at(-1);
  if (before && !before.stopped && story.last) {
    before.killed = story.last;
    const open = [...story.calls.values()].filter(isOpen);
    open.forEach((call) => call.kills.push(at.seq));
    const model = story.endpoints.at(-1)?.model;
    story.tears.push({ killed: before, resumed: run, before: story.last, open: open.map((call) => call.id), models: [model, undefined] });
  }
  story.runs.push(run);
}

const isOpen = (call: Call): boolean => !call.settled && !call.result && call.intents.length > 0;

function turnOpened(story: Story, event: Fields, at: Moment): void {
  const index = story.turns.length;
  story.turns.push({ index, at, last: at, blocks: [], interrupted: [], tries: [], losses: [] });
  // An imported turn comes whole, with its blocks.
  for (const block of event.turn?.blocks ?? []) addBlock(story, index, block, at);
  for (const block of event.turn?.interrupted ?? []) addInterrupted(story, index, block, at);
}

function addBlock(story: Story, index: number, block: Fields, at: Moment, cut?: { [path: string]: number }): void {
  const turn = story.turns[index];
  if (!turn) return;
  const shown: Shown = { at, block, path: `turns[${index}].blocks[${turn.blocks.length}]`, cut };
  turn.blocks.push(shown);
  if (block.type === "tool_call") {
    const id = String(block.call);
    const known = { id, name: block.name, arguments: block.arguments, turn: index, at, intents: [], kills: [] };
    if (!story.calls.has(id)) story.calls.set(id, known);
  }
  if (block.type === "tool_result") {
    const call = story.calls.get(String(block.call));
    if (call) Object.assign(call, { result: block, resultAt: at });
  }
}

function addInterrupted(story: Story, index: number, block: Fields, at: Moment): void {
  const turn = story.turns[index];
  turn?.interrupted.push({ at, block, path: `turns[${index}].interrupted[${turn.interrupted.length}]` });
}

function endTry(story: Story, index: number, at: Moment): Try | undefined {
  const open = story.turns[index]?.tries.findLast((one) => !one.end);
  if (open) open.end = at;
  return open;
}

function modelFailed(story: Story, event: Fields, at: Moment): void {
  const failed = endTry(story, event.turn, at);
  if (failed) failed.failure = { cause: event.cause, message: event.message, wait: event.wait };
  for (const block of event.partial ?? []) addInterrupted(story, event.turn, block, at);
}

/** What is known of a call, in one word. */
export function stateOf(call: Call, story: Story): CallState {
  const outcome = call.settled?.outcome ?? call.result?.outcome;
  if (outcome === "denied" || call.given?.verdict === "deny") return "denied";
  if (outcome === "failed" || call.result?.is_error) return "failed";
  if (call.settled || call.result) return call.intents.length > 1 ? "repeated" : "settled";
  if (call.asked && !call.given) return "waits";
  if (!call.intents.length) return "open";
  const running = story.runs.at(-1);
  const lives = running && !running.stopped && !call.kills.length;
  return call.effect === "once" && !lives ? "unsure" : "begun";
}

/** What became of a call that was open when its process was killed. */
export function fateOf(call: Call): { word: string; why: string; attention: boolean } {
  const again = call.intents.length > 1;
  const done = call.settled || call.result;
  if (call.effect === "pure") {
    return again
      ? { word: "Run again.", why: "It only reads, so repeating does no harm.", attention: false }
      : { word: "Not run again yet.", why: "It only reads, so repeating does no harm.", attention: false };
  }
  if (call.effect === "keyed") {
    return again
      ? { word: "Run again", why: "under the same key; the outside world can tell a repetition.", attention: false }
      : { word: "Not run again yet.", why: "It has a key, so it can be repeated.", attention: false };
  }
  if (call.resolved?.resolution === "retry") return { word: "Run again.", why: "A person said that it had not acted.", attention: true };
  if (call.resolved?.resolution === "skip") return { word: "Given up.", why: "A person said so; nobody knows whether it acted.", attention: true };
  if (done && again) return { word: "Run again.", why: "It was known that it had not acted.", attention: true };
  if (done) return { word: "Not repeated.", why: "It may have acted, so its outcome was looked up.", attention: true };
  return { word: "Unsure.", why: "It may have acted. It is not repeated until someone knows.", attention: true };
}
