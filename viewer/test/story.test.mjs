// What the page makes of a journal. `demo.jsonl` is the journal of `turnkeep demo`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { entriesOfLine, entryOfEnvelope } = await load("journal.ts");
const { newStory, tell, stateOf, storyUntil, fateOf } = await load("story.ts");
const { timeline, placeOf, seqAt } = await load("timeline.ts");
const { account } = await load("account.ts");
const { addDecimals } = await load("decimal.ts");
const text = await load("text.ts");
const { pretty, head } = await load("code.tsx");
const { aligned } = await load("diff.tsx").catch(() => ({}));

function demo() {
  const story = newStory();
  const lines = readFileSync(new URL("./demo.jsonl", import.meta.url), "utf8").split("\n");
  for (const entry of lines.flatMap(entriesOfLine)) assert.equal(tell(story, entry), "told");
  return story;
}

const said = (story) => account(story).map((clause) => clause.text).join("");

test("a kill, what was repeated and what was not are told", () => {
  const story = demo();
  assert.equal(story.tears.length, 1);
  assert.deepEqual(story.tears[0].open, ["call_charge", "call_delivery"]);
  assert.match(said(story), /^Killed once at \d\d:\d\d:\d\d with two calls open\. charge was not repeated; its outcome was looked up\. delivery was run again\. It continued on beta-2\. It completed\.$/);
  assert.equal(stateOf(story.calls.get("call_charge"), story), "settled");
  assert.equal(stateOf(story.calls.get("call_delivery"), story), "repeated");
  assert.equal(fateOf(story.calls.get("call_charge")).word, "Not repeated.");
});

test("the session at an earlier record is the story of fewer records", () => {
  const story = demo();
  const before = storyUntil(story, story.tears[0].before.seq);
  assert.equal(before.tears.length, 0);
  assert.equal(before.last.seq, story.tears[0].before.seq);
  assert.equal(story.last.seq, 33);
  const killed = storyUntil(story, story.tears[0].resumed.started.seq);
  assert.equal(stateOf(killed.calls.get("call_charge"), killed), "unsure");
});

test("a record is told once, and a gap is noticed", () => {
  const story = demo();
  const [entry] = story.entries;
  assert.equal(tell(story, entry), "known");
  assert.equal(tell(story, { ...entry, seq: story.last.seq + 2 }), "gap");
  assert.equal(story.last.seq, 33);
});

test("an envelope is the record that it tells of", () => {
  const envelope = { type: "log.added", session_id: "s", execution_id: "r", timestamp: "2026-01-01T00:00:00Z", seq: 3, payload: { line: "x" } };
  assert.deepEqual(entryOfEnvelope(envelope).event, { type: "log.added", line: "x" });
  assert.equal(entryOfEnvelope({ type: "answer.chunk", payload: { text: "x" } }), undefined);
});

test("places on the timeline grow with records, and lead back to them", () => {
  const story = demo();
  const line = timeline(story);
  const places = line.places.map(([, place]) => place);
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
  assert.equal(places.at(-1), 100);
  assert.equal(line.gaps.filter((gap) => gap.killed).length, 1);
  assert.ok(line.bars.some((bar) => bar.kind === "open") && line.bars.some((bar) => bar.kind === "probe"));
  assert.equal(seqAt(line, placeOf(line, 33)), 33);
});

test("a story without times, runs or turns is drawn as well", () => {
  const story = newStory("x");
  tell(story, { seq: 1, event: { type: "session.opened", session: {} } });
  tell(story, { seq: 2, event: { type: "something.new", a: 1 } });
  assert.deepEqual(timeline(story).bars, []);
  assert.equal(said(story), "");
});

test("money is added exactly and never rounded to nothing", () => {
  assert.equal(addDecimals("0.1", "0.2"), "0.3");
  assert.equal(addDecimals("1e-7", "2"), "2.0000001");
  assert.equal(text.money("0.00000012"), "$0.00000012");
  assert.equal(text.money("12.3"), "$12.30");
});

test("characters that are not drawn are named", () => {
  assert.deepEqual(text.pieces("a\u202eb"), ["a", { name: "U+202E" }, "b"]);
  assert.equal(text.oneLine("a\n\tb  c"), "a b c");
  assert.equal([...text.oneLine("ä".repeat(300), 10)].length, 10);
});

test("JSON is laid out without touching its numbers", () => {
  assert.equal(pretty('{"a":9007199254740993,"b":[1.0,-0],"c":{}}'), '{\n  "a": 9007199254740993,\n  "b": [\n    1.0,\n    -0\n  ],\n  "c": {}\n}');
  assert.equal(pretty("no JSON"), "no JSON");
  assert.equal(head("x\n".repeat(100)).split("\n").length, 40);
});

test("two conversations are aligned by what is equal", { skip: !aligned }, () => {
  assert.deepEqual(aligned(["a", "b", "c"], ["a", "x", "c"]), [["a", "a"], ["b", undefined], [undefined, "x"], ["c", "c"]]);
  assert.deepEqual(aligned([], ["a"]), [[undefined, "a"]]);
});
