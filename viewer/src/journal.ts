// Journals as text and as live events, both as entries.

import type { Entry, Fields } from "./fold";

/** The entries of one line of a journal: a batch, or the first line, which only names the session. */
export function entriesOfLine(line: string): Entry[] {
  if (!line.trim()) return [];
  const batch = JSON.parse(line);
  const events: Fields[] = batch.events ?? [];
  return events.map((event, index) => ({ seq: batch.seq + index, time: batch.time, run: batch.run, event, cut: batch.cut?.[index] }));
}

/** The entry that a native envelope tells of; chunks of an answer are none. */
export function entryOfEnvelope(envelope: Fields): Entry | undefined {
  if (typeof envelope.seq !== "number") return undefined;
  return {
    seq: envelope.seq,
    time: envelope.timestamp ?? undefined,
    run: envelope.execution_id ?? undefined,
    event: { ...(envelope.payload ?? {}), type: envelope.type },
    cut: envelope.cut,
  };
}

/** Reads a journal as it arrives and hands over the entries of whole lines. */
export async function readLines(body: ReadableStream<Uint8Array>, take: (entries: Entry[]) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as any).getReader() as ReadableStreamDefaultReader<string>;
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    const text = rest + (value ?? "");
    const end = done ? text.length : text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    const entries = text.slice(0, end).split("\n").flatMap(entriesOfLine);
    if (entries.length) take(entries);
    if (done) return;
  }
}
