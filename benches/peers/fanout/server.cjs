// What one would write by hand: a broadcaster on npm's `ws`, with Pusher's messages and no checks. Prints its port.
const http = require('node:http');
const path = require('node:path');
const { createRequire } = require('node:module');
const { WebSocketServer } = createRequire(path.join(process.argv[2], 'package.json'))('ws');

const channels = new Map();
const listeners = name => channels.get(name) ?? channels.set(name, new Set()).get(name);

const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', chunk => (body += chunk)).on('end', () => {
    const { name, channel, data } = JSON.parse(body);
    const frame = JSON.stringify({ event: name, channel, data });
    for (const client of listeners(channel)) client.send(frame);
    response.end('{}');
  });
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', client => {
  client.send(JSON.stringify({ event: 'pusher:connection_established', data: '{"socket_id":"1.1","activity_timeout":120}' }));
  client.on('message', text => {
    const { event, data } = JSON.parse(text);
    if (event !== 'pusher:subscribe') return;
    listeners(data.channel).add(client);
    client.on('close', () => listeners(data.channel).delete(client));
    client.send(JSON.stringify({ event: 'pusher_internal:subscription_succeeded', channel: data.channel, data: '{}' }));
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
