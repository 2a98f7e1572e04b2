// A merchant's webhook receiver: stores every request, and verifies signatures with code of its own.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedEvent = {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly environment: string;
  readonly data: {
    readonly object: Readonly<Record<string, unknown>> & { readonly id: string; readonly state: string };
    readonly previous_state: string | null;
    readonly late?: boolean;
  };
};

export type ReceivedWebhook = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  readonly event: ReceivedEvent;
  readonly isVerified: boolean;
  readonly receivedAtMs: number;
};

/** Answers one request. */
export type Respond = (received: ReceivedWebhook, response: ServerResponse) => void;

export type Receiver = {
  readonly url: string;
  urlFor(name: string): string;
  /** Sets the secret that verifies requests to `urlFor(name)`. */
  trust(name: string, secret: string): void;
  /** How requests to `urlFor(name)` are answered from now on; null: 200 again. */
  answerWith(name: string, answer: Respond | null): void;
  all(name?: string): ReceivedWebhook[];
  /** The events of a payment, in the order they were received. */
  eventsOf(objectId: string): ReceivedEvent[];
  stop(): Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedWebhook[] = [];
  const secrets = new Map<string, string>();
  const answers = new Map<string, Respond>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks);
      const path = request.url ?? '/';
      const name = path.slice(1);
      const entry: ReceivedWebhook = {
        path,
        headers: request.headers,
        rawBody,
        event: JSON.parse(rawBody.toString('utf8')) as ReceivedEvent,
        isVerified: verify(String(request.headers['malipo-signature']), rawBody, secrets.get(name) ?? ''),
        receivedAtMs: Date.now(),
      };
      received.push(entry);
      const answer = answers.get(name);
      if (answer) answer(entry, response);
      else response.writeHead(200).end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    urlFor: (name) => `${url}/${name}`,
    trust: (name, secret) => void secrets.set(name, secret),
    answerWith(name, answer) {
      if (answer) answers.set(name, answer);
      else answers.delete(name);
    },
    all: (name) => received.filter((entry) => name === undefined || entry.path === `/${name}`),
    eventsOf: (objectId) => received.filter(({ event }) => event.data.object.id === objectId).map(({ event }) => event),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function verify(header: string, rawBody: Buffer, secret: string): boolean {
  const { time, signatures } = parseSignature(header);
  if (!/^[0-9]+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const expected = signatureOf(secret, time, rawBody);
  return signatures.some(
    (signature) =>
      signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected)),
  );
}

/** The parts of a `Malipo-Signature` header; the time is empty where the header has none. */
export function parseSignature(header: string): { readonly time: string; readonly signatures: readonly string[] } {
  const pairs = header.split(',').map((pair) => pair.split('='));
  const time = pairs.find(([name]) => name === 't')?.[1] ?? '';
  return { time, signatures: pairs.filter(([name]) => name === 'v1').map(([, value]) => value ?? '') };
}

export function signatureOf(secret: string, time: string, rawBody: Buffer): string {
  return createHmac('sha256', secret).update(`${time}.`).update(rawBody).digest('hex');
}
