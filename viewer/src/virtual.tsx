// A list that keeps only the rows near the view in the document. Rows have any height; one that grows wholly above the view
// moves the scroll position with it, so that what is read stays where it is.

import { type ComponentChildren, type VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Row {
  key: string;
  /** What is guessed until the row was seen. */
  height: number;
  render: () => ComponentChildren;
}

interface Props {
  rows: Row[];
  /** The element that scrolls; on narrow screens that is the page. */
  scroller: () => HTMLElement;
  /** Rows that something asked to see, by key, with a number that changes with each request. */
  target?: { key: string; nonce: number; block?: "start" | "end" | "center" };
  follow?: boolean;
}

const MARGIN = 900;

export function Virtual({ rows, scroller, target, follow }: Props): VNode {
  const heights = useRef(new Map<string, number>());
  const host = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const atEnd = useRef(false);
  const heightOf = (row: Row) => heights.current.get(row.key) ?? row.height;

  const box = () => scroller();
  const offset = () => (host.current ? host.current.getBoundingClientRect().top - box().getBoundingClientRect().top + box().scrollTop : 0);
  const top = (host.current ? box().scrollTop - offset() : 0) - MARGIN;
  const bottom = (host.current ? box().scrollTop - offset() + Math.min(box().clientHeight, innerHeight) : 1200) + MARGIN;

  let [first, last, above, total] = [-1, -1, 0, 0];
  rows.forEach((row, index) => {
    const height = heightOf(row);
    if (total + height >= top && first < 0) (first = index), (above = total);
    if (total <= bottom) last = index;
    total += height;
  });
  if (first < 0) first = Math.max(0, rows.length - 1);
  const shown = rows.slice(first, last + 1);
  const guesses = new Map(shown.map((row) => [row.key, row.height]));
  const below = total - above - shown.reduce((sum, row) => sum + heightOf(row), 0);

  // Measured before the browser paints, so that nothing is seen to jump.
  useLayoutEffect(() => {
    const view = box();
    const start = view.scrollTop - offset();
    let [moved, changed, at] = [0, false, above];
    for (const element of Array.from(host.current?.children ?? []) as HTMLElement[]) {
      const key = element.dataset.row;
      if (!key) continue;
      const height = element.getBoundingClientRect().height;
      const before = heights.current.get(key) ?? guesses.get(key) ?? height;
      if (Math.abs(before - height) > 0.5) {
        heights.current.set(key, height);
        changed = true;
        if (at + before <= start) moved += height - before;
      }
      at += before;
    }
    if (moved) view.scrollTop += moved;
    if (changed) redraw((n) => n + 1);
  });

  useEffect(() => {
    const view = box();
    const source: EventTarget = view === document.documentElement ? window : view;
    let pending = 0;
    const onScroll = () => {
      pending ||= requestAnimationFrame(() => {
        pending = 0;
        redraw((n) => n + 1);
      });
    };
    addEventListener("resize", onScroll, { passive: true });
    const scrolled = () => {
      atEnd.current = view.scrollTop + view.clientHeight >= view.scrollHeight - 12;
      onScroll();
    };
    source.addEventListener("scroll", scrolled, { passive: true });
    // Folding, and images that arrive, change the height of a row.
    const inside = host.current;
    inside?.addEventListener("toggle", onScroll, true);
    inside?.addEventListener("load", onScroll, true);
    return () => {
      source.removeEventListener("scroll", scrolled);
      inside?.removeEventListener("toggle", onScroll, true);
      inside?.removeEventListener("load", onScroll, true);
      removeEventListener("resize", onScroll);
    };
  }, []);

  useEffect(() => {
    if (!target) return;
    const at = rows.findIndex((row) => row.key === target.key);
    if (at < 0) return;
    const place = rows.slice(0, at).reduce((sum, row) => sum + heightOf(row), 0);
    const view = box();
    const slack = target.block === "end" ? view.clientHeight - heightOf(rows[at]) - 24 : 40;
    view.scrollTop = offset() + place - Math.max(0, slack);
    redraw((n) => n + 1);
  }, [target?.nonce]);

  // Someone who reads is never scrolled; someone at the end stays at the end.
  useLayoutEffect(() => {
    if (follow && atEnd.current) box().scrollTop = box().scrollHeight;
  }, [follow, rows.length, total]);

  return (
    <div ref={host} class="virtual">
      <Spacer height={above} />
      {shown.map((row) => <div key={row.key} data-row={row.key} class="vrow">{row.render()}</div>)}
      <Spacer height={Math.max(0, below)} />
    </div>
  );
}

// A height is set by script: the page's policy allows no style attributes.
function Spacer({ height }: { height: number }): VNode {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (ref.current) ref.current.style.height = `${height}px`;
  }, [height]);
  return <div ref={ref} aria-hidden="true" />;
}
