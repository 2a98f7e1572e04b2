// An example of a merchant's webhook receiver: verifies, de-duplicates, answers fast. Needs Node only, no code of Malipo.
//
//   MALIPO_WEBHOOK_SECRET=whsec_… PORT=8091 node webhook-receiver.mjs
//
// POST to it as Malipo does. GET shows the requests received, newest last: for trying things out, not for your own receiver.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers';
import { fileURLToPath } from 'node:url';

const TOLERANCE_S = 300;
const MAX_BYTES = 256 * 1024;
const MAX_EVENT_IDS = 100_000;
const MAX_SHOWN = 1000;

/**
 * Whether these bytes were signed with the secret within five minutes of `nowS` (Unix seconds). `rawBody` is the Buffer as
 * received: a body that was parsed and serialized again has other bytes.
 */
export function isSignatureValid(header, rawBody, secret, nowS) {
  const pairs = String(header ?? '')
    .split(',')
    .map((pair) => pair.trim().split(/=(.*)/s, 2));
  const t = pairs.find(([name]) => name === 't')?.[1];
  // Two signatures while a secret is rotated: one match is enough. Pairs with other names are ignored.
  const signatures = pairs.filter(([name]) => name === 'v1').map(([, value]) => value ?? '');
  if (t === undefined || !/^[0-9]+$/.test(t) || signatures.length === 0) return false;
  if (Math.abs(nowS - Number(t)) > TOLERANCE_S) return false;
  const expected = Buffer.from(createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest('hex'));
  return signatures.some((signature) => {
    const given = Buffer.from(signature);
    // Compare the lengths in bytes first: timingSafeEqual throws when they differ, and the length is not secret.
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/**
 * Handles one delivery and returns the status to answer: 200 for a valid event, new or known; 400 for any other request. Calls
 * `work` once for each event, after the answer.
 */
export function createInbox({ secret, work }) {
  const shown = [];
  // In your own receiver use a database: insert the event, with its id as primary key, before you answer 2xx, and apply it
  // in one transaction with its changes. This set is lost when the process ends and drops its oldest ids when it is full, so
  // an event that arrives again later is applied again. Events that wait for `work` are lost with the process too, and
  // Malipo, which received a 2xx, does not send them again.
  const seenEventIds = new Set();

  return {
    shown,
    receive(headers, rawBody, nowS = Date.now() / 1000) {
      const isVerified = isSignatureValid(headers['malipo-signature'], rawBody, secret, nowS);
      const text = rawBody.toString('utf8');
      const event = isVerified ? parseEvent(text) : null;
      const isDuplicate = event !== null && seenEventIds.has(event.id);
      shown.push({
        received_at: new Date().toISOString(),
        verified: isVerified,
        duplicate: isDuplicate,
        headers,
        raw_body: text,
      });
      if (shown.length > MAX_SHOWN) shown.shift();
      if (event === null) return 400;
      if (!isDuplicate) {
        seenEventIds.add(event.id);
        if (seenEventIds.size > MAX_EVENT_IDS) seenEventIds.delete(seenEventIds.values().next().value);
        setImmediate(() => work(event));
      }
      return 200;
    },
  };
}

function parseEvent(text) {
  try {
    const event = JSON.parse(text);
    return typeof event?.id === 'string' ? event : null;
  } catch {
    return null;
  }
}

function serve(inbox, port) {
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(inbox.shown));
      return;
    }
    if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'GET, POST' }).end();
      return;
    }
    const chunks = [];
    let bytes = 0;
    request.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) chunks.push(chunk);
      // Answer before the whole body has arrived, and close the connection: the rest is not read.
      else if (!response.headersSent) response.writeHead(413, { connection: 'close' }).end();
    });
    request.on('end', () => {
      if (!response.headersSent) response.writeHead(inbox.receive(request.headers, Buffer.concat(chunks))).end();
    });
    // A client that disconnects early must not end the process.
    request.on('error', () => response.destroy());
  });
  server.listen(port, '127.0.0.1', () => console.log(`webhook receiver on http://127.0.0.1:${server.address().port}`));
}

function main() {
  const [argument] = process.argv.slice(2);
  if (argument !== undefined) {
    const usage = 'usage: MALIPO_WEBHOOK_SECRET=whsec_… PORT=8091 node webhook-receiver.mjs';
    if (argument === '--help') console.log(usage);
    else console.error(`'${argument}' is not known\n${usage}`);
    process.exit(argument === '--help' ? 0 : 2);
  }
  const secret = process.env.MALIPO_WEBHOOK_SECRET;
  if (!secret) {
    console.error('set MALIPO_WEBHOOK_SECRET to the signing secret of your endpoint');
    process.exit(1);
  }
  // Before goods leave the shop, fetch the payment's current state from its route.
  const work = (event) => console.log(`${event.type} ${event.id} ${event.data?.object?.id ?? ''}`);
  serve(createInbox({ secret, work }), Number(process.env.PORT ?? 8091));
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
  // As a child of `npm start` it ends with its parent.
  process.on('disconnect', () => process.exit(0));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main();
