// A store with sessions, a vendor on loopback and a server of turnkeep, for the tests in a browser.

import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A vendor that speaks openai.chat. It streams word by word, and calls `charge` where the question says so. */
export async function startVendor() {
  const vendor = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const messages = JSON.parse(body).messages;
    const last = messages.at(-1);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta, finish = null) => response.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "gpt-4o", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    const asksForCharge = last.role === "user" && JSON.stringify(last.content).includes("charge");
    if (asksForCharge) {
      send({ role: "assistant", tool_calls: [{ index: 0, id: `c${messages.length}`, type: "function", function: { name: "charge", arguments: '{"amount":"42.00","currency":"EUR"}' } }] });
      send({}, "tool_calls");
    } else {
      for (const word of "The **quick** answer arrives word by word.".split(" ")) {
        send({ role: "assistant", content: `${word} ` });
        await new Promise((done) => setTimeout(done, vendor.pause ?? 60));
      }
      send({}, "stop");
    }
    response.end("data: [DONE]\n\n");
  });
  await new Promise((done) => vendor.listen(0, "127.0.0.1", done));
  return vendor;
}

/** The files that a server needs in `folder`. */
export function furnish(folder, vendor) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tools.yaml"), `tools:
  - name: charge
    description: Charges the card.
    parameters: { type: object, properties: { amount: { type: string }, currency: { type: string } } }
    command: [sh, -c, "cat > /dev/null; echo booked"]
    effect: once
    approve: true
`);
  writeFileSync(join(folder, "turnkeep.toml"), `[endpoint.test]
provider = "openai"
wire = "openai.chat"
model = "gpt-4o"
base_url = "http://127.0.0.1:${vendor.address().port}/v1"
key = { env = "TURNKEEP_TEST_KEY" }
proxy = "none"
[server.tools]
shop = "${join(folder, "tools.yaml")}"
`);
}

export function turnkeep(program, folder, ...words) {
  const ran = spawnSync(program, words, { cwd: folder, encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`turnkeep ${words.join(" ")}: ${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

/** Starts a server; the port can be given, so that one can come back where it was. */
export async function serve(program, folder, store, port = 0, ...more) {
  const child = spawn(program, ["serve", "--addr", `127.0.0.1:${port}`, "--config", "turnkeep.toml", "--store", store, ...more], { cwd: folder, env: { ...process.env, TURNKEEP_TEST_KEY: "sk-test" }, stdio: ["ignore", "ignore", "pipe"] });
  const url = await new Promise((done, failed) => {
    let said = "";
    child.stderr.on("data", (data) => {
      said += data;
      const found = said.match(/listening on (http:\S+)/);
      if (found) done(found[1]);
    });
    child.on("exit", () => failed(new Error(`the server ended: ${said}`)));
  });
  const stop = () => new Promise((done) => {
    child.on("exit", done);
    child.kill("SIGTERM");
  });
  return { url, stop, port: Number(new URL(url).port) };
}

export async function post(url, path, body) {
  const response = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
