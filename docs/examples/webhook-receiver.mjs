// An example of a merchant's webhook receiver: verifies, de-duplicates, answers fast. Node alone, none of Malipo's code.
//
//   MALIPO_WEBHOOK_SECRET=whsec_… PORT=8091 node webhook-receiver.mjs
//
// POST anything to it as Malipo does; GET / lists what it got, newest last, as JSON.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const SECRET = process.env.MALIPO_WEBHOOK_SECRET;
const PORT = Number(process.env.PORT ?? 8091);
const TOLERANCE_S = 300;
const MOST_KEPT = 1000;
const MOST_BYTES = 256 * 1024;

if (!SECRET) {
  console.error('set MALIPO_WEBHOOK_SECRET to the signing secret of your endpoint');
  process.exit(1);
}

const inbox = [];
const seenEventIds = new Set();

/** The interface document's rules 2 to 4, over the raw bytes (rule 1). Two v1 pairs come while a secret is rotated. */
function isSignatureValid(header, rawBody, secret, nowS) {
  const pairs = String(header ?? '')
    .split(',')
    .map((pair) => pair.trim().split('='));
  const t = pairs.find(([name]) => name === 't')?.[1];
  const signatures = pairs.filter(([name]) => name === 'v1').map(([, value]) => value ?? '');
  if (t === undefined || !/^[0-9]+$/.test(t) || signatures.length === 0) return false;
  if (Math.abs(nowS - Number(t)) > TOLERANCE_S) return false;
  const expected = createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest('hex');
  return signatures.some(
    (signature) =>
      signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected)),
  );
}

function receive(request, rawBody) {
  const isVerified = isSignatureValid(request.headers['malipo-signature'], rawBody, SECRET, Date.now() / 1000);
  const entry = {
    received_at: new Date().toISOString(),
    verified: isVerified,
    duplicate: false,
    headers: request.headers,
    raw_body: rawBody.toString('utf8'),
  };
  inbox.push(entry);
  if (inbox.length > MOST_KEPT) inbox.shift();
  if (!isVerified) return 400;
  const { id } = JSON.parse(entry.raw_body);
  // An event can come twice. Applying it a second time must change nothing: remember its id with your own data.
  entry.duplicate = seenEventIds.has(id);
  if (!entry.duplicate) {
    seenEventIds.add(id);
    // Slow work belongs here, after the answer: setImmediate(() => applyEvent(JSON.parse(entry.raw_body)));
  }
  return 200;
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(inbox));
    return;
  }
  const chunks = [];
  let bytes = 0;
  request.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) request.destroy();
    else chunks.push(chunk);
  });
  request.on('end', () => response.writeHead(receive(request, Buffer.concat(chunks))).end());
});

server.listen(PORT, '127.0.0.1', () => console.log(`webhook receiver on http://127.0.0.1:${PORT}`));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
// As a child of `npm start` it leaves with its parent.
process.on('disconnect', () => process.exit(0));
