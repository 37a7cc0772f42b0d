// Markdown as elements of an allow-list. Content never becomes HTML: tokens are mapped, and what is not known is shown as its text.

import { type ComponentChildren, type VNode } from "preact";
import { type Token, lexer } from "marked";
import { Code } from "./code";
import { Visible } from "./visible";

const SAFE = /^(https?:|mailto:)/i;

export function Markdown({ text }: { text: string }): VNode {
  return <div class="md" dir="auto">{blocks(lexer(text, { gfm: true }))}</div>;
}

function blocks(tokens: Token[]): ComponentChildren[] {
  return tokens.map(block);
}

const HEADINGS = ["h3", "h3", "h4", "h5", "h6", "h6"] as const;

function block(token: any): ComponentChildren {
  switch (token.type) {
    case "space": return null;
    case "heading": {
      const Heading = HEADINGS[token.depth - 1] ?? "h6";
      return <Heading>{inline(token.tokens)}</Heading>;
    }
    case "paragraph": return <p>{inline(token.tokens)}</p>;
    case "text": return token.tokens ? <>{inline(token.tokens)}</> : <Visible text={token.text} />;
    case "code": return <Code text={token.text} language={token.lang} />;
    case "blockquote": return <blockquote>{blocks(token.tokens)}</blockquote>;
    case "list": return list(token);
    case "table": return table(token);
    case "hr": return <hr />;
    default: return <p class="raw"><Visible text={token.raw} /></p>;
  }
}

function list(token: any): VNode {
  const items = token.items.map((item: any) => <li>{item.task ? (item.checked ? "☑ " : "☐ ") : null}{blocks(item.tokens)}</li>);
  return token.ordered ? <ol start={token.start || 1}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: any): VNode {
  const side = (index: number) => (token.align[index] === "right" ? "num" : undefined);
  return (
    <div class="scroll-x"><table>
      <thead><tr>{token.header.map((cell: any, i: number) => <th class={side(i)}>{inline(cell.tokens)}</th>)}</tr></thead>
      <tbody>{token.rows.map((row: any[]) => <tr>{row.map((cell, i) => <td class={side(i)}>{inline(cell.tokens)}</td>)}</tr>)}</tbody>
    </table></div>
  );
}

function inline(tokens: Token[] = []): ComponentChildren[] {
  return tokens.map(span);
}

function span(token: any): ComponentChildren {
  switch (token.type) {
    case "text":
    case "escape": return token.tokens ? <>{inline(token.tokens)}</> : <Visible text={token.text} />;
    case "strong": return <strong>{inline(token.tokens)}</strong>;
    case "em": return <em>{inline(token.tokens)}</em>;
    case "del": return <del>{inline(token.tokens)}</del>;
    case "codespan": return <code><Visible text={token.text} /></code>;
    case "br": return <br />;
    case "link": return link(token);
    case "image": return <Visible text={token.raw} />;
    default: return <Visible text={token.raw} />;
  }
}

// The whole address is a tooltip, so that nobody opens what they did not see; other schemes stay text.
function link(token: any): ComponentChildren {
  if (!SAFE.test(token.href.trim())) return <Visible text={token.raw} />;
  return <a class="acc" href={token.href} title={token.href} rel="noreferrer noopener" target="_blank">{inline(token.tokens)}</a>;
}
