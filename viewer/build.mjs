// Builds the page into dist/, which is committed so that `cargo build` needs no Node. The same sources give the same bytes.

import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const LIMIT = 80 * 1024;
const out = new URL("./dist/", import.meta.url);
await mkdir(out, { recursive: true });

const styles = ["base", "session", "list", "states", "viewer"];
const common = { bundle: true, minify: true, legalComments: "none", target: ["chrome120", "firefox121", "safari17.2"], logLevel: "warning" };
await build({ ...common, entryPoints: ["src/app.tsx"], outfile: "dist/viewer.js", format: "iife", jsx: "automatic", jsxImportSource: "preact" });
// The script also stands inside a page, where these two would end or hide it.
const safe = (await readFile(new URL("viewer.js", out), "utf8")).replaceAll("<!--", "<\\!--").replaceAll("</script", "<\\/script");
await writeFile(new URL("viewer.js", out), safe);
const css = (await Promise.all(styles.map((name) => readFile(new URL(`./src/style/${name}.css`, import.meta.url), "utf8")))).join("\n");
await build({ ...common, stdin: { contents: css, loader: "css" }, outfile: "dist/viewer.css" });
await copyFile(new URL("./src/index.html", import.meta.url), new URL("index.html", out));

const script = await readFile(new URL("viewer.js", out));
const size = gzipSync(script).length;
console.log(`viewer.js: ${script.length} bytes, ${size} gzip; viewer.css: ${gzipSync(await readFile(new URL("viewer.css", out))).length} gzip`);
if (size > LIMIT) {
  console.error(`viewer.js is over ${LIMIT} bytes`);
  process.exit(1);
}
