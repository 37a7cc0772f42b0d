// Blocks of a conversation as a person reads them.

import { type VNode } from "preact";
import { useState } from "preact/hooks";
import { type Fields } from "./fold";
import { type Shown } from "./story";
import { Icon } from "./icons";
import { Markdown } from "./markdown";
import { Pre, head } from "./code";
import { Visible } from "./visible";
import { bytes, count } from "./text";
import { whole } from "./whole";

/** A text that stops after 40 lines or 8 kB, and can be shown whole. */
export function Long({ text, seq, path, full, as = "code" }: { text: string; seq: number; path: string; full?: number; as?: "code" | "prose" | "markdown" }): VNode {
  const [all, setAll] = useState<string | undefined>(undefined);
  const begin = head(text);
  const size = full ?? text.length;
  const isWhole = all !== undefined || (begin.length === text.length && size <= text.length);
  const show = async () => setAll(size > text.length ? await whole(seq, path) : text);
  const body = all ?? begin;
  return (
    <>
      {as === "markdown" && body.length < 200_000 ? <Markdown text={body} /> : as === "prose" ? <div class="prose" dir="auto"><Visible text={body} /></div> : <Pre text={body} />}
      {!isWhole && <p class="more"><button class="acc" onClick={show}>Show all, {bytes(size)}</button></p>}
    </>
  );
}

const REDACTED = /\[(?:redacted|erased|[a-z_]+-\d+)\]|\*{4}\d+\*{4}/;

export function TextBlock({ shown, who }: { shown: Shown; who: string }): VNode {
  const { block, at } = shown;
  const text = <Long text={block.text ?? ""} seq={at.seq} path="block.text" full={shown.cut?.["block.text"]} as={who === "assistant" ? "markdown" : "prose"} />;
  if (who === "assistant") return text;
  return (
    <>
      {who !== "user" && <div class="who"><Visible text={who} /></div>}
      <div class="say" dir="auto">{text}</div>
      {block.metadata?.redacted || REDACTED.test(block.text ?? "") ? <Redacted /> : null}
    </>
  );
}

function Redacted(): VNode {
  return <span class="red" title="Something was redacted here"><Icon name="lock" />redacted</span>;
}

export function ReasoningBlock({ shown }: { shown: Shown }): VNode {
  const { block, at } = shown;
  const text = block.text ?? (block.summary ?? []).join("\n\n");
  const sealed = !text && (block.encrypted || block.signature);
  return (
    <details class="think">
      <summary><Icon name="chev" tone="chev" />Reasoning{sealed ? ", sealed by its vendor" : ` · ${count(text.length)} characters`}</summary>
      {text ? <div class="thought"><Long text={text} seq={at.seq} path="block.text" full={shown.cut?.["block.text"]} as="prose" /></div>
        : <p>Only the vendor that made it can read it.</p>}
    </details>
  );
}

const RASTER = /^image\/(png|jpe?g|gif|webp|avif|bmp)$/i;

/** An image is decoded as a raster image; SVG and everything else is named, never rendered. */
export function MediaBlock({ media }: { media: Fields }): VNode {
  const type = media.media_type ?? "unknown type";
  if (media.inline && RASTER.test(type)) {
    return <img class="media" alt={media.name ?? "An image of the session"} src={`data:${type};base64,${media.inline}`} />;
  }
  if (media.text) return <Pre text={head(media.text)} />;
  const what = media.name ?? media.url ?? media.file_id ?? (media.inline ? bytes(media.inline.length * 0.75) : "");
  return <div class="note"><Icon name="out" /><span>{type} <code><Visible text={String(what)} /></code>. Remote media is not loaded.</span></div>;
}

export function SummaryBlock({ shown }: { shown: Shown }): VNode {
  const { block, at } = shown;
  const turns = block.from !== undefined ? ` of turns ${block.from + 1} to ${block.to + 1}` : "";
  return (
    <div class="fold open"><div class="fold-h"><Icon name="par" /><b>Summary{turns}</b></div>
      <div class="fold-b"><Long text={block.text ?? ""} seq={at.seq} path="block.text" full={shown.cut?.["block.text"]} as="prose" /></div></div>
  );
}

export function OtherBlock({ block }: { block: Fields }): VNode {
  return (
    <details class="think"><summary><Icon name="chev" tone="chev" />{`${block.kind ?? block.type}`} (kept as it came)</summary>
      <Pre text={head(JSON.stringify(block.raw ?? block, null, 2))} /></details>
  );
}

export function BlockBody({ shown }: { shown: Shown }): VNode {
  const { block } = shown;
  switch (block.type) {
    case "text": return <TextBlock shown={shown} who={block.author} />;
    case "reasoning": return <ReasoningBlock shown={shown} />;
    case "media": return <MediaBlock media={block} />;
    case "summary": return <SummaryBlock shown={shown} />;
    default: return <OtherBlock block={block} />;
  }
}
