// The campaign's webhook receiver: records every request before it responds, and can be made slow, faulty or dead.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitWithParent, reportReady } from '../src/engines/process/parent-link.ts';
import { openLineFile } from './line-file.ts';

/** `gone`: it answers that the endpoint no longer exists. */
type Behaviour = 'ok' | 'slow' | 'errors' | 'gone' | 'down';
type Mode = { readonly name: Behaviour; readonly latencyMs?: number };

const STATUSES: Readonly<Record<Behaviour, number | null>> = { ok: 200, slow: 200, errors: 500, gone: 410, down: null };

const [port = '', logFile = ''] = process.argv.slice(2);
const log = openLineFile(logFile);
let mode: Mode = { name: 'ok' };

const server = createServer((request, response) => {
  void readBody(request).then(
    (body) => respond(request, response, body),
    () => request.socket.destroy(),
  );
});

async function respond(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
  if (request.method === 'PUT') {
    mode = JSON.parse(body.toString('utf8')) as Mode;
    response.writeHead(204).end();
    return;
  }
  const { name, latencyMs = 0 } = mode;
  const status = STATUSES[name];
  // The bytes as they came: base64, because the signature covers bytes and not characters.
  log.append({
    atMs: Date.now(),
    path: request.url,
    headers: request.headers,
    body: body.toString('base64'),
    status,
  });
  if (status === null) {
    request.socket.destroy();
    return;
  }
  if (name === 'slow') await sleep(latencyMs);
  response.writeHead(status).end();
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

server.listen(Number(port), '127.0.0.1', reportReady);
exitWithParent();
