// Runs one scenario of real clients against the server on a port of this machine: clients.mjs SCENARIO PORT.
// It prints the marks that the test waits for, `done` at the end, and ends with 1 where something is not as it should be.
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.env.TURNKEEP_NODE, 'package.json'));
const PusherJs = require('pusher-js');
const Pusher = PusherJs.default ?? PusherJs;
// Its CommonJS file is none for Node: the package says that all its files are modules.
const { default: Echo } = await import(pathToFileURL(path.join(process.env.TURNKEEP_NODE, 'node_modules/laravel-echo/dist/echo.js')));
const ServerSdk = require('pusher');

const [scenario, port] = process.argv.slice(2);
const key = 'app-key';
const host = { cluster: '', wsHost: '127.0.0.1', wsPort: Number(port), forceTLS: false, enabledTransports: ['ws'], disableStats: true };
const sdk = new ServerSdk({ appId: 'app-id', key, secret: 'app-secret', host: '127.0.0.1', port, useTLS: false });

// A page of a user who shows a token for signatures.
const page = user =>
  new Pusher(key, {
    ...host,
    channelAuthorization: {
      endpoint: `http://127.0.0.1:${port}/broadcasting/auth`,
      transport: 'ajax',
      headers: user ? { Authorization: `Bearer ${user}` } : {},
    },
  });
const once = (emitter, event) => new Promise(resolve => {
  const heard = data => { emitter.unbind(event, heard); resolve(data); };
  emitter.bind(event, heard);
});
const connected = pusher => (pusher.connection.state === 'connected' ? null : once(pusher.connection, 'connected'));
const subscribed = channel => (channel.subscribed ? null : once(channel, 'pusher:subscription_succeeded'));

const scenarios = {
  async channels() {
    const [ann, bob] = [page('ann'), page('bob')];
    await Promise.all([connected(ann), connected(bob)]);
    assert.match(ann.connection.socket_id, /^\d+\.\d+$/);

    const news = ann.subscribe('news');
    const count = once(news, 'pusher:subscription_count');
    await subscribed(news);
    assert.equal((await count).subscription_count, 1);
    let heard = once(news, 'turn');
    await sdk.trigger('news', 'turn', { n: 1 });
    assert.deepEqual(await heard, { n: 1 });

    const [mine, yours] = [ann.subscribe('private-a'), bob.subscribe('private-a')];
    await Promise.all([subscribed(mine), subscribed(yours)]);
    heard = once(yours, 'client-typing');
    assert.ok(mine.trigger('client-typing', { on: true }));
    assert.deepEqual(await heard, { on: true });

    const room = ann.subscribe('presence-room');
    await subscribed(room);
    assert.equal(room.members.me.id, 'ann');
    const added = once(room, 'pusher:member_added');
    const theirs = bob.subscribe('presence-room');
    await subscribed(theirs);
    assert.deepEqual((await added).info, { name: 'bob' });
    assert.equal(theirs.members.count, 2);
    const secondTab = page('bob');
    await connected(secondTab);
    await subscribed(secondTab.subscribe('presence-room'));
    assert.equal(room.members.count, 2);
    secondTab.disconnect();
    const removed = once(room, 'pusher:member_removed');
    bob.unsubscribe('presence-room');
    assert.equal((await removed).id, 'bob');

    const cold = ann.subscribe('cache-status');
    await once(cold, 'pusher:cache_miss');
    await sdk.trigger('cache-status', 'status', { status: 'completed' });
    const warm = bob.subscribe('cache-status');
    assert.deepEqual(await once(warm, 'status'), { status: 'completed' });
  },

  async echo() {
    globalThis.Pusher = Pusher;
    const open = user => new Echo({
      broadcaster: 'reverb', key, Pusher, ...host,
      authEndpoint: `http://127.0.0.1:${port}/broadcasting/auth`, bearerToken: user,
      // Two pages in one program would share the headers of the defaults.
      auth: { headers: {} },
    });
    const [ann, bob] = [open('ann'), open('bob')];
    const heard = (channel, event) => new Promise(resolve => channel.listen(event, resolve));
    const ready = channel => new Promise(resolve => channel.subscribed(resolve));

    const open_ = ann.channel('agent.order-7');
    await ready(open_);
    const status = heard(open_, '.agent.status');
    await sdk.trigger('agent.order-7', 'agent.status', { type: 'agent.status', payload: { status: 'completed' } });
    assert.equal((await status).payload.status, 'completed');

    const [mine, yours] = [ann.private('agent.order-7'), bob.private('agent.order-7')];
    await Promise.all([ready(mine), ready(yours)]);
    const whisper = new Promise(resolve => yours.listenForWhisper('typing', resolve));
    mine.whisper('typing', { on: true });
    assert.deepEqual(await whisper, { on: true });
    const event = heard(yours, 'OrderShipped');
    await sdk.trigger('private-agent.order-7', 'App\\Events\\OrderShipped', { id: 7 }, { socket_id: ann.socketId() });
    assert.deepEqual(await event, { id: 7 });

    const here = new Promise(resolve => ann.join('room').here(resolve));
    assert.deepEqual(await here, [{ name: 'ann' }]);
    const joining = new Promise(resolve => ann.join('room').joining(resolve));
    bob.join('room');
    assert.deepEqual(await joining, { name: 'bob' });
    const leaving = new Promise(resolve => ann.join('room').leaving(resolve));
    bob.leave('room');
    assert.deepEqual(await leaving, { name: 'bob' });
  },

  async sdk() {
    const [ann, bob] = [page('ann'), page('bob')];
    await Promise.all([connected(ann), connected(bob)]);
    const [mine, yours] = [ann.subscribe('private-a'), bob.subscribe('private-a')];
    await Promise.all([subscribed(mine), subscribed(yours), subscribed(ann.subscribe('presence-room'))]);
    const got = { mine: [], yours: [] };
    mine.bind('turn', data => got.mine.push(data));
    yours.bind('turn', data => got.yours.push(data));

    const end = Promise.all([once(mine, 'end'), once(yours, 'end')]);
    await sdk.trigger('private-a', 'turn', 'plain text');
    await sdk.trigger(['private-a', 'other'], 'turn', { n: 1 }, { socket_id: ann.connection.socket_id });
    await sdk.triggerBatch([
      { channel: 'private-a', name: 'turn', data: { n: 2 } },
      { channel: 'private-a', name: 'end', data: {} },
    ]);
    await end;
    assert.deepEqual(got.mine, ['plain text', { n: 2 }]);
    assert.deepEqual(got.yours, ['plain text', { n: 1 }, { n: 2 }]);

    const get = async (path, params) => (await sdk.get({ path, params })).json();
    assert.equal((await get('/channels/private-a', { info: 'subscription_count' })).subscription_count, 2);
    assert.deepEqual((await get('/channels', { filter_by_prefix: 'presence-', info: 'user_count' })).channels, { 'presence-room': { user_count: 1 } });
    assert.deepEqual((await get('/channels/presence-room/users')).users, [{ id: 'ann' }]);
    assert.equal((await get('/connections')).connections, 2);

    const wrong = new ServerSdk({ appId: 'app-id', key, secret: 'wrong', host: '127.0.0.1', port, useTLS: false });
    await assert.rejects(wrong.trigger('private-a', 'turn', {}), error => error.status === 401);
    await assert.rejects(sdk.trigger('private-a', 'turn', 'x'.repeat(11_000)), error => error.status === 413);
    const closed = once(ann.connection, 'disconnected').catch(() => null);
    await sdk.terminateUserConnections('ann');
    await closed;
  },

  async denied() {
    const [stranger, forger] = [page(null), new Pusher(key, {
      ...host,
      channelAuthorization: { customHandler: (_, done) => done(null, { auth: `${key}:${'0'.repeat(64)}` }) },
    })];
    const unsigned = await once(stranger.subscribe('private-a'), 'pusher:subscription_error');
    assert.equal(unsigned.status, 403);
    const error = once(forger.connection, 'error');
    const forged = await once(forger.subscribe('private-a'), 'pusher:subscription_error');
    assert.equal(forged.status, 401);
    assert.equal((await error).data.code, 4009);
    const unknown = new Pusher('no-such-key', host);
    const refused = once(unknown.connection, 'error');
    const failed = once(unknown.connection, 'disconnected');
    assert.equal((await refused).error.data.code, 4001);
    await failed;
  },

  async replay() {
    const ann = page('ann');
    const channel = ann.subscribe('private-agent.x@41');
    const seen = [];
    const reach = goal => new Promise(resolve => channel.bind('record', () => seen.at(-1) >= goal && resolve()));
    channel.bind('record', ({ seq }) => {
      // The name says where the page began: after a reconnect it skips what it has.
      if (seq > (seen.at(-1) ?? 41)) seen.push(seq);
    });
    await reach(45);
    console.log('read 45');
    await reach(50);
    console.log('read 50');
    await reach(51);
    assert.deepEqual(seen, Array.from({ length: 10 }, (_, index) => 42 + index));
  },
};

try {
  await scenarios[scenario]();
  console.log('done');
  process.exit(0);
} catch (error) {
  console.error(scenario, error);
  process.exit(1);
}
