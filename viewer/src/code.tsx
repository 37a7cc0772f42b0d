// Code and JSON with a few colours. One scanner for all languages: strings, numbers, comments and keywords are enough to read by.

import { type ComponentChildren, type VNode } from "preact";
import { Visible } from "./visible";

const LINES = 40;
const SIZE = 8000;

const WORDS = new Set(
  ("as async await break case catch class const continue def default do elif else enum except export extends false finally fn for from func " +
    "function if impl import in interface is lambda let match mod mut new nil None not null or and pub raise return select self static struct " +
    "super switch this throw trait true True False try type use var void where while with yield insert update delete into values join on group by order").split(" "),
);
const SCAN = /("(?:[^"\\\n]|\\.)*"(?=\s*:))|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|(\/\/[^\n]*|#(?![0-9a-fA-F]{3,8}\b)[^\n]*|--\s[^\n]*|\/\*[\s\S]*?\*\/)|(\b\d[\w.]*\b)|([A-Za-z_]\w*)/g;

/** The coloured pieces of a text. */
export function coloured(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const match of text.matchAll(SCAN)) {
    const [whole, key, string, comment, number, word] = match;
    const kind = key ? "ck" : string ? "cs" : comment ? "cc" : number ? "cn" : word && WORDS.has(word) ? "ck" : undefined;
    if (!kind) continue;
    if (match.index > from) parts.push(<Visible text={text.slice(from, match.index)} />);
    parts.push(<span class={kind}><Visible text={whole} /></span>);
    from = match.index + whole.length;
  }
  if (from < text.length) parts.push(<Visible text={text.slice(from)} />);
  return parts;
}

export function Code({ text, language }: { text: string; language?: string }): VNode {
  return (
    <div class="code">
      <header><span>{language?.split(/\s/)[0]?.slice(0, 30) || "text"}</span></header>
      <Pre text={text} />
    </div>
  );
}

/** How much of a text is shown at first. */
export function head(text: string): string {
  let end = Math.min(text.length, SIZE);
  let at = -1;
  for (let line = 0; line < LINES; line++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0 || at >= end) return text.slice(0, end);
  }
  return text.slice(0, at);
}

export function Pre({ text }: { text: string }): VNode {
  return <pre dir="auto" tabIndex={0}>{coloured(text)}</pre>;
}

/** JSON as people read it; a text that is none stays as it is. */
export function pretty(text: string): string {
  if (text.length > 2_000_000) return text;
  try {
    // Numbers keep their spelling: a text is only laid out again, never parsed into other numbers.
    JSON.parse(text);
    return laidOut(text);
  } catch {
    return text;
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function laidOut(text: string): string {
  let depth = 0;
  let out = "";
  const tokens = text.match(TOKENS) ?? [];
  const line = () => "\n" + "  ".repeat(depth);
  tokens.forEach((token, index) => {
    const next = tokens[index + 1];
    if (token === "{" || token === "[") {
      depth++;
      out += token + (next === "}" || next === "]" ? "" : line());
    } else if (token === "}" || token === "]") {
      depth--;
      const before = tokens[index - 1];
      out += (before === "{" || before === "[" ? "" : line()) + token;
    } else out += token === "," ? "," + line() : token === ":" ? ": " : token;
  });
  return out;
}
