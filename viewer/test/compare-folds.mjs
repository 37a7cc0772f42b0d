// Reads journals and the sessions that the library folded them to, folds them again, and compares.
// Input: for every case the number of lines, the lines, and the archive.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { load } from "./load.mjs";

const { apply, emptySession } = await load("fold.ts");
const { entriesOfLine } = await load("journal.ts");

// What is empty is left out when a session is written.
function lean(value) {
  if (Array.isArray(value)) return value.map(lean);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).map(([key, inner]) => [key, lean(inner)]).filter(([, inner]) => !isEmpty(inner));
  return Object.fromEntries(kept);
}

const isEmpty = (value) => value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

const lines = readFileSync(0, "utf8").split("\n");
let journals = 0;
for (let at = 0; at < lines.length; ) {
  const count = Number(lines[at]);
  const batches = lines.slice(at + 1, at + 1 + count);
  const expected = JSON.parse(lines[at + 1 + count]).sessions[0];
  let session = emptySession();
  for (const entry of batches.flatMap(entriesOfLine)) session = apply(session, entry.event);
  delete expected.id;
  delete session.id;
  if (!isDeepStrictEqual(lean(session), lean(expected))) {
    console.log(`journal ${journals} differs\n${batches.join("\n")}\nlibrary: ${JSON.stringify(lean(expected))}\npage:    ${JSON.stringify(lean(session))}`);
    process.exit(1);
  }
  journals += 1;
  at += count + 2;
}
console.log(`${journals} journals`);
