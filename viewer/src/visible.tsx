// Text of a session, with characters that are not drawn or reorder text shown by name.

import { type VNode } from "preact";
import { signal } from "@preact/signals";
import { pieces } from "./text";

/** What is looked for inside the session; hits are marked wherever text is shown. */
export const needle = signal("");

export function Visible({ text }: { text: string }): VNode {
  return <>{pieces(text).map((part) => typeof part === "string" ? marked(part, needle.value)
    : <span class="ctrl" title="A character that is not drawn, shown by name">{part.name}</span>)}</>;
}

function marked(text: string, word: string) {
  if (word.length < 2) return text;
  const lower = text.toLowerCase();
  const parts = [];
  let from = 0;
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, from)) {
    parts.push(text.slice(from, at), <mark>{text.slice(at, at + word.length)}</mark>);
    from = at + word.length;
  }
  return from ? [...parts, text.slice(from)] : text;
}
