// Where things stand on the timeline: model and tool bars over time, with idle gaps compressed. Pure numbers in per cent.

import { type Call, type Story, stateOf } from "./story";
import { millis } from "./text";

export type BarKind = "model" | "think" | "tool" | "open" | "probe" | "wait" | "retry" | "live";

export interface Bar {
  kind: BarKind;
  lane: number;
  from: number;
  to: number;
  seq: number;
  label?: string;
}

export interface Gap {
  from: number;
  to: number;
  seconds: number;
  /** A kill, and not merely a time in which nothing happened. */
  killed: boolean;
}

export interface Timeline {
  bars: Bar[];
  gaps: Gap[];
  turns: { index: number; from: number; to: number }[];
  hidden: number;
  /** Places of records, in order: seq and per cent. */
  places: [number, number][];
  start?: string;
}

const IDLE = 20_000;
const GAP = 2.5;
const KILL = 6;
const LANES = 3;
const FEW = 400;
const NEAR = 0.12;

interface Span {
  from: number;
  to: number;
}

/** Maps times onto 0 to 100 so that idle stretches take little room. */
class Scale {
  private readonly knots: [number, number][] = [];
  readonly gaps: Gap[] = [];

  constructor(times: number[], kills: Span[]) {
    const stops = [...new Set(times)].sort((a, b) => a - b);
    const idle = (from: number, to: number) => to - from > IDLE || kills.some((kill) => kill.from === from && kill.to === to);
    const fixed = stops.slice(1).map((to, index): number => {
      const from = stops[index];
      if (!idle(from, to)) return 0;
      return kills.some((kill) => kill.from === from && kill.to === to) ? KILL : GAP;
    });
    const room = Math.max(20, 100 - fixed.reduce((sum, width) => sum + width, 0));
    const active = stops.slice(1).reduce((sum, to, index) => sum + (fixed[index] ? 0 : to - stops[index]), 0);
    let at = 0;
    stops.forEach((time, index) => {
      if (index) {
        const from = stops[index - 1];
        const width = fixed[index - 1] || (active ? ((time - from) / active) * room : 0);
        if (fixed[index - 1]) {
          const killed = fixed[index - 1] === KILL;
          this.gaps.push({ from: at, to: at + width, seconds: (time - from) / 1000, killed });
        }
        at += width;
      }
      this.knots.push([time, at]);
    });
    const end = at || 1;
    for (const knot of this.knots) knot[1] *= 100 / end;
    for (const gap of this.gaps) (gap.from *= 100 / end), (gap.to *= 100 / end);
  }

  at(time: number): number {
    let low = 0;
    let high = this.knots.length - 1;
    if (high < 0) return 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.knots[middle][0] < time) low = middle + 1;
      else high = middle;
    }
    const [t1, x1] = this.knots[low];
    if (low === 0 || t1 <= time) return x1;
    const [t0, x0] = this.knots[low - 1];
    return x0 + ((time - t0) / (t1 - t0)) * (x1 - x0);
  }
}

/** The timeline of a story. `now` is the end of what still runs. */
export function timeline(story: Story, now?: number): Timeline {
  const bounds = new Map<number, number>();
  let previous = NaN;
  for (const entry of story.entries) {
    const time = millis(entry.time);
    if (!Number.isNaN(time)) previous = Number.isNaN(previous) ? time : Math.max(previous, time);
    if (!Number.isNaN(previous)) bounds.set(entry.seq, previous);
  }
  const timeAt = (seq?: number): number => bounds.get(seq ?? -1) ?? NaN;
  const kills = story.tears.map((tear) => ({ from: timeAt(tear.before.seq), to: timeAt(tear.resumed.started.seq) }));
  const times = [...bounds.values()];
  if (now !== undefined && runs(story)) times.push(now);
  const scale = new Scale(times.filter((time) => !Number.isNaN(time)), kills);
  const end = now !== undefined && runs(story) ? now : previous;
  const place = (time: number) => scale.at(time);

  const bars = modelBars(story, timeAt, place, end);
  const tools = toolBars(story, timeAt, place, end);
  const turns = story.turns.map((turn) => ({ index: turn.index, from: place(timeAt(turn.at.seq)), to: place(timeAt(turn.last.seq)) }));
  const places = [...bounds].map(([seq, time]): [number, number] => [seq, place(time)]);
  return { bars: merged([...bars, ...tools.bars]), gaps: scale.gaps, turns, hidden: tools.hidden, places, start: story.entries[0]?.time };
}

/** Bars of one kind that nobody could tell apart become one: a long session has tens of thousands. */
function merged(bars: Bar[]): Bar[] {
  const open = new Map<string, Bar>();
  const kept: Bar[] = [];
  for (const bar of bars) {
    const key = `${bar.lane} ${bar.kind}`;
    const last = open.get(key);
    if (last && bars.length > FEW && bar.from - last.to < NEAR && bar.from >= last.from) {
      last.to = Math.max(last.to, bar.to);
      continue;
    }
    const copy = { ...bar };
    open.set(key, copy);
    kept.push(copy);
  }
  return kept;
}

function runs(story: Story): boolean {
  const run = story.runs.at(-1);
  return !!run && !run.stopped;
}

type Place = (time: number) => number;

function modelBars(story: Story, timeAt: (seq?: number) => number, place: Place, end: number): Bar[] {
  return story.turns.flatMap((turn) =>
    turn.tries.map((one): Bar => {
      const until = one.end ? timeAt(one.end.seq) : end;
      const kind: BarKind = one.failure ? "retry" : one.end ? "model" : "live";
      return { kind, lane: 0, from: place(timeAt(one.seq)), to: place(until), seq: one.seq, label: one.model };
    }),
  );
}

function toolBars(story: Story, timeAt: (seq?: number) => number, place: Place, end: number): { bars: Bar[]; hidden: number } {
  const free: number[] = [];
  const bars: Bar[] = [];
  let hidden = 0;
  const lane = (from: number, to: number): number => {
    let at = free.findIndex((until) => until <= from);
    if (at < 0) at = free.push(0) - 1;
    free[at] = to;
    return at;
  };
  for (const call of story.calls.values()) {
    for (const part of spans(call, story, timeAt, end)) {
      const at = lane(part.from, part.to);
      if (at >= LANES) hidden++;
      else bars.push({ kind: part.kind, lane: at + 1, from: place(part.from), to: place(part.to), seq: call.at.seq, label: call.name });
    }
  }
  return { bars, hidden };
}

function spans(call: Call, story: Story, timeAt: (seq?: number) => number, end: number): (Span & { kind: BarKind })[] {
  const settled = call.settled ?? call.resultAt;
  const parts = call.intents.map((intent, index): Span & { kind: BarKind } => {
    const next = call.intents[index + 1];
    const kill = story.tears.find((tear) => tear.resumed.started.seq > intent.seq && (!settled || tear.resumed.started.seq < settled.seq));
    const died = kill && (!next || kill.resumed.started.seq < next.seq);
    if (died) return { kind: "open", from: timeAt(intent.seq), to: timeAt(kill.before.seq) };
    const to = next ? timeAt(next.seq) : settled ? timeAt(settled.seq) : end;
    const state = stateOf(call, story);
    return { kind: settled || next ? "tool" : state === "unsure" ? "open" : "live", from: timeAt(intent.seq), to };
  });
  const last = call.kills.at(-1);
  if (last && settled && call.intents.at(-1)!.seq < last) {
    parts.push({ kind: "probe", from: timeAt(last), to: timeAt(settled.seq) });
  }
  if (call.asked) {
    const to = call.given ? timeAt(call.given.seq) : end;
    parts.push({ kind: "wait", from: timeAt(call.asked.seq), to });
  }
  return parts.filter((part) => !Number.isNaN(part.from) && !Number.isNaN(part.to));
}

/** The place of a record on the timeline. */
export function placeOf(line: Timeline, seq: number): number {
  let low = 0;
  let high = line.places.length - 1;
  if (high < 0) return 100;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (line.places[middle][0] <= seq) low = middle;
    else high = middle - 1;
  }
  return line.places[low][1];
}

/** The record that stands nearest to a place. */
export function seqAt(line: Timeline, place: number): number {
  let best = line.places[0] ?? [1, 0];
  for (const one of line.places) if (Math.abs(one[1] - place) <= Math.abs(best[1] - place)) best = one;
  return best[0];
}
