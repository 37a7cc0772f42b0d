// Bundles a module of the page so that Node can run it.

import { build } from "esbuild";

export async function load(path) {
  const bundled = await build({ entryPoints: [new URL(`../src/${path}`, import.meta.url).pathname], bundle: true, format: "esm", write: false, jsx: "automatic", jsxImportSource: "preact", logLevel: "error" });
  return import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].contents).toString("base64")}`);
}
