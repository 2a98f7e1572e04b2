// An example of a merchant's webhook receiver: verifies, de-duplicates, answers fast. Node alone, none of Malipo's code.
//
//   MALIPO_WEBHOOK_SECRET=whsec_… PORT=8091 node webhook-receiver.mjs
//
// POST to it as Malipo does. GET shows what it got, newest last: to try things out with, leave it out of your own.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers';
import { fileURLToPath } from 'node:url';

const TOLERANCE_S = 300;
const MOST_BYTES = 256 * 1024;
const MOST_EVENT_IDS = 100_000;
const MOST_SHOWN = 1000;

/**
 * Whether these bytes were signed with the secret within five minutes of `nowS` (Unix seconds). `rawBody` is the Buffer as
 * it was received: what was parsed and written again has other bytes.
 */
export function isSignatureValid(header, rawBody, secret, nowS) {
  const pairs = String(header ?? '')
    .split(',')
    .map((pair) => pair.trim().split(/=(.*)/s, 2));
  const t = pairs.find(([name]) => name === 't')?.[1];
  // Two of them while a secret is being rotated: one that fits is enough. Names that you do not know are not for you.
  const signatures = pairs.filter(([name]) => name === 'v1').map(([, value]) => value ?? '');
  if (t === undefined || !/^[0-9]+$/.test(t) || signatures.length === 0) return false;
  if (Math.abs(nowS - Number(t)) > TOLERANCE_S) return false;
  const expected = Buffer.from(createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest('hex'));
  return signatures.some((signature) => {
    const given = Buffer.from(signature);
    // In bytes: timingSafeEqual throws where the lengths differ, and a length is no secret.
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/**
 * What a receiver does with one delivery, and the status it answers: 200 for what it has, new or not, 400 for what is not
 * Malipo's. `work` is called once for each event, after the answer.
 */
export function createInbox({ secret, work }) {
  const shown = [];
  // Your database is the place for this: insert the event, its id as primary key, before you answer 2xx, and apply it in
  // one transaction with what it changes. This set forgets when the process ends, and its oldest when it is full: an
  // event that comes again after that is applied again. And what waits for `work` here is lost with the process, while
  // Malipo, which got its 2xx, does not send it again.
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
      if (shown.length > MOST_SHOWN) shown.shift();
      if (event === null) return 400;
      if (!isDuplicate) {
        seenEventIds.add(event.id);
        if (seenEventIds.size > MOST_EVENT_IDS) seenEventIds.delete(seenEventIds.values().next().value);
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
      if (bytes <= MOST_BYTES) chunks.push(chunk);
      // Answered before all of it is here, and the connection closed: nobody reads the rest.
      else if (!response.headersSent) response.writeHead(413, { connection: 'close' }).end();
    });
    request.on('end', () => {
      if (!response.headersSent) response.writeHead(inbox.receive(request.headers, Buffer.concat(chunks))).end();
    });
    // Who breaks off in the middle is no reason to end.
    request.on('error', () => response.destroy());
  });
  server.listen(port, '127.0.0.1', () => console.log(`webhook receiver on http://127.0.0.1:${server.address().port}`));
}

function main() {
  const secret = process.env.MALIPO_WEBHOOK_SECRET;
  if (!secret) {
    console.error('set MALIPO_WEBHOOK_SECRET to the signing secret of your endpoint');
    process.exit(1);
  }
  // A payment that you are told of here is worth a look at its route before goods leave the shop.
  const work = (event) => console.log(`${event.type} ${event.id} ${event.data?.object?.id ?? ''}`);
  serve(createInbox({ secret, work }), Number(process.env.PORT ?? 8091));
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
  // As a child of `npm start` it leaves with its parent.
  process.on('disconnect', () => process.exit(0));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main();
