// A page that shows a running agent: agent.mjs PORT SESSION STEPS, with the page's token in TURNKEEP_TOKEN.
// It prints `listening`, and what it shows when the agent has ended after that many steps.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const packages = process.env.TURNKEEP_NODE;
const require = createRequire(path.join(packages, 'package.json'));
const PusherJs = require('pusher-js');
const Pusher = PusherJs.default ?? PusherJs;
const { default: Echo } = await import(pathToFileURL(path.join(packages, 'node_modules/laravel-echo/dist/echo.js')));
const [port, session, steps] = process.argv.slice(2);

const page = { status: null, step_count: 0, steps: new Map(), calls: new Map(), answer: '' };
const echo = new Echo({
  broadcaster: 'reverb', key: 'app-key', Pusher, cluster: '', wsHost: '127.0.0.1', wsPort: Number(port), forceTLS: false,
  enabledTransports: ['ws'], authEndpoint: `http://127.0.0.1:${port}/broadcasting/auth`, bearerToken: process.env.TURNKEEP_TOKEN,
  auth: { headers: {} },
});
let step;
echo.private(`agent.${session}@0`)
  .subscribed(() => console.log('listening'))
  .listen('.agent.step.started', ({ payload }) => { step = payload.step_number; page.calls.set(step, new Map()); })
  .listen('.agent.step.completed', ({ payload }) => page.steps.set(payload.step_number, payload))
  .listen('.agent.tool.started', ({ payload }) => page.calls.get(step).set(payload.tool_call_id, payload.tool_name))
  .listen('.agent.stream.chunk', ({ payload }) => { page.answer = (payload.index ? page.answer : '') + payload.chunk; })
  .listen('.agent.status', ({ payload }) => { Object.assign(page, { status: payload.status, step_count: payload.step_count }); show(); });

function show() {
  if (page.status === 'in_progress' || page.step_count < Number(steps)) return;
  const calls = number => [...page.calls.get(number)].map(([id, name]) => ({ id, name }));
  const told = [...page.steps.values()].map(one => ({ ...one, tool_calls: calls(one.step_number) }));
  console.log(JSON.stringify({ ...page, steps: told, calls: undefined }));
  process.exit(0);
}
