// Plays the servers that our broadcasters send to, with the packages that such servers and their clients use: `pusher`
// signs every request anew, `standardwebhooks` verifies every message. Any other signature is a 401.
//
//     node peers.mjs FOLDER-WITH-node_modules

import { createRequire } from "node:module";
import { createServer } from "node:http";
import { join, resolve } from "node:path";

const load = createRequire(join(resolve(process.argv[2]), "index.js"));
const Pusher = load("pusher");
const { Webhook } = load("standardwebhooks");

const pusher = new Pusher({ appId: "3", key: "key", secret: "secret", host: "127.0.0.1" });
const webhook = new Webhook("whsec_c2VjcmV0");

// The package takes the time from the clock; ours is the one that the request names.
function signed(method, path, body, time) {
  const now = Date.now;
  Date.now = () => time * 1000;
  try {
    return pusher.createSignedQueryString({ method, path, body });
  } finally {
    Date.now = now;
  }
}

function parameters(query) {
  return [...new URLSearchParams(query)].map(([key, value]) => `${key}=${value}`).sort().join("&");
}

function publishes(request, url, body) {
  const time = Number(url.searchParams.get("auth_timestamp"));
  const right = signed(request.method, url.pathname, body, time);
  if (Math.abs(Date.now() / 1000 - time) > 600) return 401;
  if (parameters(right) !== parameters(url.search.slice(1))) return 401;
  const told = JSON.parse(body);
  const events = told.batch ?? [told];
  const fits = (event) =>
    typeof event.data === "string" && /^[A-Za-z0-9_\-=@,.;]{1,164}$/.test(event.channel) && JSON.parse(event.data).type;
  return events.length <= 10 && events.every(fits) ? 200 : 422;
}

function receives(request, body) {
  try {
    webhook.verify(body, request.headers);
    return 200;
  } catch {
    return 401;
  }
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    const url = new URL(request.url, "http://127.0.0.1");
    response.statusCode = url.pathname === "/hook" ? receives(request, body) : publishes(request, url, body);
    response.end("{}");
  });
});

server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
