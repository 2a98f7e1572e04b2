// A sandbox operator with short times, a real receiver for its callbacks, and a bare client that speaks MTN's wire.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { SandboxConfig } from '../../src/sandbox/sandbox-config.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/start-sandbox.ts';

export const CREDENTIALS = { subscriptionKey: 'test-subscription', apiUser: randomUUID(), apiKey: 'test-api-key' };
export const DISBURSEMENT_CREDENTIALS = {
  subscriptionKey: 'test-disbursement',
  apiUser: randomUUID(),
  apiKey: 'test-disbursement-key',
};
export const TARGET_ENVIRONMENT = 'mtntest';

export const SHORT_TIMES = {
  decisionMs: 60,
  promptExpiryMs: 100,
  undecidedMs: 300,
  reversalMs: 200,
  callbackTimeoutMs: 500,
};

export type Callback = { readonly method: string; readonly body: Record<string, unknown>; readonly atMs: number };

export type Receiver = {
  readonly url: string;
  readonly callbacks: Callback[];
  stop(): Promise<void>;
};

export type Answer = { readonly status: number; readonly body: Record<string, unknown> | null };

type Product = 'collection' | 'disbursement';
/** Asks for a payment; `undefined` as a header's value leaves it out. */
type Ask = (body: unknown, headers?: Record<string, string | undefined>) => Promise<Answer>;
type AskStatus = (reference: string, headers?: Record<string, string>) => Promise<Answer>;

export type WireClient = {
  token(headers?: Record<string, string>, product?: Product): Promise<Answer>;
  requestToPay: Ask;
  status: AskStatus;
  transfer: Ask;
  transferStatus: AskStatus;
  refund: Ask;
  refundStatus: AskStatus;
  balance(product?: Product): Promise<Answer>;
  seen(reference: string): Promise<Record<string, unknown> | undefined>;
};

export function sandboxConfig(changes: Partial<SandboxConfig> = {}): SandboxConfig {
  return {
    port: 0,
    collection: CREDENTIALS,
    disbursement: DISBURSEMENT_CREDENTIALS,
    targetEnvironment: TARGET_ENVIRONMENT,
    times: SHORT_TIMES,
    ...changes,
  };
}

/** Its `stop` fails when the sandbox reported trouble of its own. */
export async function startTestSandbox(changes: Partial<SandboxConfig> = {}): Promise<Sandbox> {
  const troubles: unknown[] = [];
  const sandbox = await startSandbox(sandboxConfig({ onError: (error) => troubles.push(error), ...changes }));
  return {
    url: sandbox.url,
    async stop() {
      await sandbox.stop();
      assert.deepEqual(troubles, []);
    },
  };
}

/** Answers every callback with `status` after `delayMs`, and keeps what came. */
export async function startReceiver(status = 200, delayMs = 0): Promise<Receiver> {
  const callbacks: Callback[] = [];
  const delays = new Set<NodeJS.Timeout>();
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => (text += chunk));
    incoming.on('end', () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      callbacks.push({ method: incoming.method ?? '', body, atMs: performance.now() });
      delays.add(setTimeout(() => response.writeHead(status).end(), delayMs));
    });
  });
  return {
    url: `${await listen(server)}/callbacks`,
    callbacks,
    async stop() {
      for (const delay of delays) clearTimeout(delay);
      await closeNow(server);
    },
  };
}

export function wireClient(url: string): WireClient {
  const credentials = { collection: CREDENTIALS, disbursement: DISBURSEMENT_CREDENTIALS };
  const bearers = new Map<Product, string>();

  const token = (headers: Record<string, string> = {}, product: Product = 'collection'): Promise<Answer> => {
    const { apiUser, apiKey } = credentials[product];
    const basic = `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`;
    return send(`${url}/${product}/token/`, 'POST', { ...subscription(product), Authorization: basic, ...headers });
  };

  function subscription(product: Product): Record<string, string> {
    return { 'Ocp-Apim-Subscription-Key': credentials[product].subscriptionKey };
  }

  async function authorised(product: Product): Promise<Record<string, string>> {
    const bearer = bearers.get(product) ?? `Bearer ${String((await token({}, product)).body?.['access_token'])}`;
    bearers.set(product, bearer);
    return { ...subscription(product), Authorization: bearer, 'X-Target-Environment': TARGET_ENVIRONMENT };
  }

  function ask(product: Product, resource: string): Ask {
    return async (body, headers = {}) => {
      const all = { ...(await authorised(product)), 'Content-Type': 'application/json', ...headers };
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return send(`${url}/${product}/v1_0/${resource}`, 'POST', withoutUndefined(all), text);
    };
  }

  function askStatus(product: Product, resource: string): AskStatus {
    return async (reference, headers = {}) => {
      const all = { ...(await authorised(product)), ...headers };
      return send(`${url}/${product}/v1_0/${resource}/${reference}`, 'GET', all);
    };
  }

  return {
    token,
    requestToPay: ask('collection', 'requesttopay'),
    status: askStatus('collection', 'requesttopay'),
    transfer: ask('disbursement', 'transfer'),
    transferStatus: askStatus('disbursement', 'transfer'),
    refund: ask('disbursement', 'refund'),
    refundStatus: askStatus('disbursement', 'refund'),
    async balance(product = 'collection') {
      return send(`${url}/${product}/v1_0/account/balance`, 'GET', await authorised(product));
    },
    async seen(reference) {
      const answer = await request(`${url}/sandbox/transactions?reference=${reference}`);
      return ((await answer.body.json()) as Record<string, unknown>[])[0];
    },
  };
}

/** A request body that MTN takes, with `changes`. */
export function payment(ending: string, reference: string, changes: Record<string, unknown> = {}) {
  return {
    amount: '500',
    currency: 'UGX',
    externalId: reference,
    payer: { partyIdType: 'MSISDN', partyId: `256772123${ending}` },
    payerMessage: 'Order 17',
    payeeNote: 'Order 17',
    ...changes,
  };
}

/** The same for money out. */
export function payout(ending: string, reference: string, changes: Record<string, unknown> = {}) {
  const { payer, ...fields } = payment(ending, reference);
  return { ...fields, payee: payer, ...changes };
}

/** The same for giving the money of the payment `original` back. */
export function refundOf(original: string, reference: string, changes: Record<string, unknown> = {}) {
  return { ...payment('', reference), payer: undefined, referenceIdToRefund: original, ...changes };
}

/** Asks again until `isDone` says so; the last answer after twenty seconds. */
export async function until<T>(ask: () => Promise<T> | T, isDone: (value: T) => boolean): Promise<T> {
  const endMs = performance.now() + 20_000;
  for (;;) {
    const value = await ask();
    if (isDone(value) || performance.now() > endMs) return value;
    await sleep(5);
  }
}

export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function closeNow(server: Server): Promise<void> {
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
}

async function send(
  url: string,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
  body?: string,
): Promise<Answer> {
  const answer = await request(url, { method, headers, body: body ?? null });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>) };
}

function withoutUndefined(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
