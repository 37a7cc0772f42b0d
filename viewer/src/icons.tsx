// The glyphs of the page. Every state has a glyph and a word, never a colour alone.

import { type VNode } from "preact";

const PATHS = {
  done: ["M4 8.4l2.6 2.6L12 5.4"],
  unsure: ["M8 1.6 14.4 8 8 14.4 1.6 8z", "M6.6 6.6a1.5 1.5 0 1 1 2 1.6c-.4.2-.6.5-.6.9M8 11v.05"],
  wait: ["M14 8a6 6 0 1 1-12 0 6 6 0 0 1 12 0z", "M6.4 6v4M9.6 6v4"],
  run: ["M8 2a6 6 0 0 1 4.2 1.8M14 8a6 6 0 0 1-1.8 4.2M8 14a6 6 0 0 1-4.2-1.8M2 8a6 6 0 0 1 1.8-4.2", "M9.5 8a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0z"],
  fail: ["M4.5 4.5l7 7M11.5 4.5l-7 7"],
  stop: ["M4 4h8v8H4z"],
  hand: ["M2.5 8h10M9 4.5 12.5 8 9 11.5"],
  again: ["M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.7h-2.7"],
  kill: ["M1 8h3l1.5-4 2 8 2-6 1.2 2", "M12 6.2l3 3.6M15 6.2l-3 3.6"],
  resume: ["M5.5 3.5 12 8l-6.5 4.5z"],
  chev: ["M6 4l4 4-4 4"],
  down: ["M4 6l4 4 4-4"],
  say: ["M2.5 3.5h11V11h-6l-3 2.5V11h-2z"],
  fork: ["M6.2 3.5a1.7 1.7 0 1 1-3.4 0 1.7 1.7 0 0 1 3.4 0zM6.2 12.500a1.700 1.700 0 1 1-3.400 0 1.700 1.700 0 0 1 3.400 0zM13.200 5.500a1.700 1.700 0 1 1-3.400 0 1.700 1.700 0 0 1 3.400 0z", "M4.5 5.200v5.600M11.5 7.200c0 2.300-5 1.800-6.700 3.700"],
  out: ["M8 10V2.5M5 5.300l3-2.800 3 2.800M2.800 9.500v4h10.400v-4"],
  share: ["M6.800 9.200a2.600 2.600 0 0 0 3.800.2l2-2A2.600 2.600 0 0 0 9 3.700l-.8.7M9.200 6.800a2.600 2.600 0 0 0-3.800-.2l-2 2A2.600 2.600 0 0 0 7 12.300l.8-.7"],
  find: ["M11.200 7a4.200 4.200 0 1 1-8.400 0 4.200 4.200 0 0 1 8.400 0z", "m10.200 10.200 3.300 3.300"],
  theme: ["M13.500 8a5.500 5.500 0 1 1-11 0 5.500 5.500 0 0 1 11 0z", "M8 2.500a5.500 5.500 0 0 1 0 11z"],
  copy: ["M5.500 5.500h8v8h-8z", "M10.500 5.500v-3h-8v8h3"],
  par: ["M2.500 8h2M4.500 3.500v9M4.500 3.500h9M4.500 8h9M4.500 12.500h9"],
  loss: ["M2.500 4h11M2.500 8h4M9.500 8h4M2.500 12h11", "M7.200 9.800l1.800-3.600"],
  lock: ["M3.500 7h9v6.500h-9z", "M5.500 7V5a2.500 2.500 0 0 1 5 0v2"],
  led: ["M3 3.500h10M3 8h10M3 12.500h6"],
  term: ["M3 5l3 3-3 3M8 11.500h5"],
  close: ["M4.5 4.5l7 7M11.5 4.5l-7 7"],
} as const;

export type Glyph = keyof typeof PATHS;

export function Icon({ name, small = true, tone }: { name: Glyph; small?: boolean; tone?: string }): VNode {
  return (
    <svg class={`i${small ? " s" : ""}${tone ? ` ${tone}` : ""}`} viewBox="0 0 16 16" aria-hidden="true">
      {PATHS[name].map((path) => <path d={path} />)}
    </svg>
  );
}

export function Brand(): VNode {
  return (
    <svg viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <path class="ink" d="M3 2.5h14v5.7l-2.4 1.3-2.3-1.5-2.3 1.7-2.5-1.6-2.3 1.4L3 8.2z" />
      <path class="acc-fill" d="M3 17.5h14v-5.7l-2.4 1.3-2.3-1.5-2.3 1.7-2.5-1.6-2.3 1.4L3 11.8z" />
    </svg>
  );
}
