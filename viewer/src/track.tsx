// The timeline: bars over time, the tear, and a knob that goes to any record.

import { type VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Bar, placeOf, seqAt } from "./timeline";
import { clock, oneLine, seconds } from "./text";
import { connection, line, offer, quoted, reveal, scrub, story } from "./state";

const TOP = { 0: 30, 1: 47, 2: 64, 3: 81 } as { [lane: number]: number };

export function Track({ session }: { session: string }): VNode | null {
  const view = line.value;
  const last = story.value.last?.seq ?? 0;
  if (!view.places.length) return null;
  const at = Math.min(scrub.value ?? last, last);
  const place = placeOf(view, at);
  const past = at < last;
  const go = (seq: number) => {
    const next = Math.max(1, Math.min(last, seq));
    scrub.value = next >= last ? undefined : next;
    reveal(next);
    offer(next >= last ? `tail ${quoted(session)} --follow` : `fork ${quoted(session)} --at ${next}`, next >= last ? "follow it live" : "continue from here");
  };
  const toPlace = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    go(seqAt(view, ((event.clientX - box.left) / box.width) * 100));
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -last, End: last }[event.key];
    if (by === undefined) return;
    go(at + by);
    event.preventDefault();
  };
  return (
    <section class="tl" aria-label="Timeline">
      <div class="lanes" aria-hidden="true"><span class="l0">turns</span><span class="l1">model</span><span class="l3">tools</span></div>
      <div class="track" onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); toPlace(event); }} onPointerMove={(event) => event.buttons && toPlace(event)}>
        <svg class="tls" role="img" aria-label={summary()}>
          <defs>
            <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hn" width="6" height="6" /><rect class="hl" width="2" height="6" /></pattern>
            <pattern id="hatchd" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hdn" width="5" height="5" /><rect class="hdl" width="2" height="5" /></pattern>
          </defs>
          <Turns />
          {view.gaps.map((gap) => gap.killed
            ? <g><rect class="void" x={`${gap.from}%`} width={`${gap.to - gap.from}%`} y="22" height="86" /><line class="ripd" x1={`${gap.from}%`} x2={`${gap.from}%`} y1="20" y2="110" /><text class="tdead" x={`${(gap.from + gap.to) / 2}%`} y="12" text-anchor="middle">killed</text><text x={`${(gap.from + gap.to) / 2}%`} y="66" text-anchor="middle">{seconds(gap.seconds)}</text></g>
            : <g><rect class="gap" x={`${gap.from}%`} width={`${gap.to - gap.from}%`} y="20" height="90" /><title>{seconds(gap.seconds)} without a record</title></g>)}
          {view.bars.map((bar) => <BarView bar={bar} />)}
          {view.hidden > 0 && <text x="100%" y="104" text-anchor="end">+{view.hidden} more calls</text>}
          <text class="axl" x="0%" y="124">{clock(view.start)}</text>
          <text class="axl" x="100%" y="124" text-anchor="end">{clock(story.value.last?.time)}</text>
        </svg>
        <Pointer place={place} past={past} seq={at} last={last} onKey={onKey} />
      </div>
    </section>
  );
}

function summary(): string {
  const { turns, tears } = story.value;
  const kills = tears.length ? `, killed ${tears.length === 1 ? "once" : `${tears.length} times`}` : "";
  return `Timeline of ${turns.length} turns${kills}`;
}

function Turns(): VNode {
  const turns = line.value.turns;
  // Labels are drawn where there is room for them.
  let free = -1;
  let drawn = -1;
  return <>{turns.map((turn) => {
    if (turn.from - drawn < 0.4) return null;
    drawn = turn.from;
    const labelled = turn.from >= free && turn.from < 96;
    if (labelled) free = turn.from + 5;
    return <g><line class="tick" x1={`${turn.from}%`} x2={`${turn.from}%`} y1="2" y2="110" />{labelled && <text class="tn" x={`${turn.from + 0.3}%`} y="12"><tspan class="nar">Turn </tspan>{turn.index + 1}</text>}</g>;
  })}</>;
}

function BarView({ bar }: { bar: Bar }): VNode {
  const width = Math.max(0.25, bar.to - bar.from);
  return <rect class={`b-${bar.kind}`} x={`${Math.min(bar.from, 99.75)}%`} width={`${width}%`} y={TOP[bar.lane]} height="11" rx="2" onClick={() => reveal(bar.seq)}><title>{oneLine(bar.label ?? bar.kind, 80)}</title></rect>;
}

function Pointer({ place, past, seq, last, onKey }: { place: number; past: boolean; seq: number; last: number; onKey: (event: KeyboardEvent) => void }): VNode {
  const head = useRef<HTMLDivElement>(null);
  const future = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (head.current) head.current.style.left = `${place}%`;
    if (future.current) future.current.style.left = past ? `${place}%` : "100%";
  }, [place, past]);
  return (
    <>
      <div class="future" ref={future} />
      <div class="head-p" ref={head}>
        <button class={`knob${past ? "" : " end"}`} role="slider" aria-label="Record" aria-valuemin={1} aria-valuemax={last} aria-valuenow={seq} aria-valuetext={`record ${seq} of ${last}`} onKeyDown={onKey}>{past ? `seq ${seq}` : connection.value.state === "live" ? "live" : "end"}</button>
      </div>
    </>
  );
}
