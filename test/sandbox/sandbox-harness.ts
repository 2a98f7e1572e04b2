// A sandbox operator with short times, a real receiver for its callbacks, and a plain client of MTN's API.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { securityHeaders } from '../../src/api/security-headers.ts';
import type { SandboxConfig } from '../../src/sandbox/sandbox-config.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/start-sandbox.ts';
import { useFixture } from '../support/use-fixture.ts';

export const CREDENTIALS = { subscriptionKey: 'test-subscription', apiUser: randomUUID(), apiKey: 'test-api-key' };
export const DISBURSEMENT_CREDENTIALS = {
  subscriptionKey: 'test-disbursement',
  apiUser: randomUUID(),
  apiKey: 'test-disbursement-key',
};
export const AIRTEL = { clientId: randomUUID(), clientSecret: 'test-airtel-secret', pin: '2580' };
export const DARAJA = {
  consumerKey: randomUUID(),
  consumerSecret: 'test-daraja-secret',
  shortcode: '174379',
  passkey: 'test-passkey',
  payoutShortcode: '600997',
  initiatorName: 'testapi',
  initiatorPassword: 'Test-password-1',
};
export const TARGET_ENVIRONMENT = 'mtntest';

export const SHORT_TIMES = {
  decisionMs: 60,
  promptExpiryMs: 100,
  undecidedMs: 300,
  reversalMs: 200,
  darajaResultMs: 20,
  callbackTimeoutMs: 500,
};

export type Callback = {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly atMs: number;
};

export type Receiver = {
  readonly url: string;
  readonly callbacks: Callback[];
  stop(): Promise<void>;
};

export type WireResponse = { readonly status: number; readonly body: Record<string, unknown> | null };

type Product = 'collection' | 'disbursement';
/** Sends a payment request; a header with the value `undefined` is left out. */
type SendRequest = (body: unknown, headers?: Record<string, string | undefined>) => Promise<WireResponse>;
type QueryStatus = (reference: string, headers?: Record<string, string>) => Promise<WireResponse>;

export type WireClient = {
  token(headers?: Record<string, string>, product?: Product): Promise<WireResponse>;
  requestToPay: SendRequest;
  status: QueryStatus;
  transfer: SendRequest;
  transferStatus: QueryStatus;
  refund: SendRequest;
  refundStatus: QueryStatus;
  balance(product?: Product): Promise<WireResponse>;
  /** The transaction as the inspection page shows it. */
  seen(reference: string): Promise<Record<string, unknown> | undefined>;
};

export function sandboxConfig(changes: Partial<SandboxConfig> = {}): SandboxConfig {
  return {
    port: 0,
    collection: CREDENTIALS,
    disbursement: DISBURSEMENT_CREDENTIALS,
    targetEnvironment: TARGET_ENVIRONMENT,
    times: SHORT_TIMES,
    responseHeaders: securityHeaders('http://127.0.0.1'),
    ...changes,
  };
}

/** Its `stop` fails if the sandbox reported an error. */
export async function startTestSandbox(changes: Partial<SandboxConfig> = {}): Promise<Sandbox> {
  const errors: unknown[] = [];
  const sandbox = await startSandbox(sandboxConfig({ onError: (error) => errors.push(error), ...changes }));
  return {
    url: sandbox.url,
    async stop() {
      await sandbox.stop();
      assert.deepEqual(errors, []);
    },
  };
}

/** Runs `test` with its own sandbox, which is stopped in any case. */
export async function withSandbox(
  changes: Partial<SandboxConfig>,
  test: (client: WireClient, sandbox: Sandbox) => Promise<void>,
): Promise<void> {
  const sandbox = await startTestSandbox(changes);
  try {
    await test(wireClient(sandbox), sandbox);
  } finally {
    await sandbox.stop();
  }
}

/** Runs `test` with its own receiver, which is stopped in any case. */
export async function withReceiver(
  behaviour: { readonly status?: number; readonly delayMs?: number },
  test: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  const receiver = await startReceiver(behaviour.status, behaviour.delayMs);
  try {
    await test(receiver);
  } finally {
    await receiver.stop();
  }
}

/** Responds to every callback with `status` after `delayMs`, and keeps the callbacks. */
export async function startReceiver(status = 200, delayMs = 0): Promise<Receiver> {
  const callbacks: Callback[] = [];
  const delays = new Set<NodeJS.Timeout>();
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => (text += chunk));
    incoming.on('end', () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      callbacks.push({ method: incoming.method ?? '', path: incoming.url ?? '', body, atMs: performance.now() });
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

/** A sandbox, a receiver and a client for the surrounding suite: started before its tests, stopped after them. */
export function useSandbox(changes: Partial<SandboxConfig> = {}) {
  const sandbox = useFixture(
    () => startTestSandbox(changes),
    (running) => running.stop(),
  );
  const receiver = useFixture(startReceiver, (running) => running.stop());
  return { sandbox, receiver, client: wireClient(sandbox) };
}

/** The address of `sandbox` is read at each call. */
export function wireClient(sandbox: { readonly url: string }): WireClient {
  const credentials = { collection: CREDENTIALS, disbursement: DISBURSEMENT_CREDENTIALS };
  const bearers = new Map<Product, string>();

  const token = (headers: Record<string, string> = {}, product: Product = 'collection'): Promise<WireResponse> => {
    const { apiUser, apiKey } = credentials[product];
    const basic = `Basic ${Buffer.from(`${apiUser}:${apiKey}`).toString('base64')}`;
    return send(`${sandbox.url}/${product}/token/`, 'POST', {
      ...subscription(product),
      Authorization: basic,
      ...headers,
    });
  };

  function subscription(product: Product): Record<string, string> {
    return { 'Ocp-Apim-Subscription-Key': credentials[product].subscriptionKey };
  }

  async function authorised(product: Product): Promise<Record<string, string>> {
    const bearer = bearers.get(product) ?? `Bearer ${String((await token({}, product)).body?.['access_token'])}`;
    bearers.set(product, bearer);
    return { ...subscription(product), Authorization: bearer, 'X-Target-Environment': TARGET_ENVIRONMENT };
  }

  function sender(product: Product, resource: string): SendRequest {
    return async (body, headers = {}) => {
      const all = { ...(await authorised(product)), 'Content-Type': 'application/json', ...headers };
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const url = `${sandbox.url}/${product}/v1_0/${resource}`;
      const response = await send(url, 'POST', withoutUndefined(all), text);
      // The next request gets a new token.
      if (response.status === 401) bearers.delete(product);
      return response;
    };
  }

  function statusQuery(product: Product, resource: string): QueryStatus {
    return async (reference, headers = {}) => {
      const all = { ...(await authorised(product)), ...headers };
      return send(`${sandbox.url}/${product}/v1_0/${resource}/${reference}`, 'GET', all);
    };
  }

  return {
    token,
    requestToPay: sender('collection', 'requesttopay'),
    status: statusQuery('collection', 'requesttopay'),
    transfer: sender('disbursement', 'transfer'),
    transferStatus: statusQuery('disbursement', 'transfer'),
    refund: sender('disbursement', 'refund'),
    refundStatus: statusQuery('disbursement', 'refund'),
    async balance(product = 'collection') {
      return send(`${sandbox.url}/${product}/v1_0/account/balance`, 'GET', await authorised(product));
    },
    async seen(reference) {
      const response = await request(`${sandbox.url}/sandbox/transactions?reference=${reference}`);
      return ((await response.body.json()) as Record<string, unknown>[])[0];
    },
  };
}

/** The operator's own counts of a payment: requests, and how often one raised a prompt or was accepted as a transfer. */
export async function countsOf(client: Pick<WireClient, 'seen'>, reference: string) {
  const { requestsReceived = 0, promptsRaised = 0, transfersTaken = 0 } = (await client.seen(reference)) ?? {};
  return {
    requestsReceived: Number(requestsReceived),
    timesAccepted: Number(promptsRaised) + Number(transfersTaken),
  };
}

export async function setFaults(sandbox: { readonly url: string }, faults: Record<string, unknown>): Promise<void> {
  const response = await request(`${sandbox.url}/sandbox/faults`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(faults),
  });
  await response.body.dump();
}

/** A valid request-to-pay body with `changes`. */
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

/** The same for a transfer. */
export function payout(ending: string, reference: string, changes: Record<string, unknown> = {}) {
  const { payer, ...fields } = payment(ending, reference);
  return { ...fields, payee: payer, ...changes };
}

/** The same for a refund of the collection `original`. */
export function refundOf(original: string, reference: string, changes: Record<string, unknown> = {}) {
  return { ...payment('', reference), payer: undefined, referenceIdToRefund: original, ...changes };
}

type Sent = 'requestToPay' | 'transfer' | 'refund';

/**
 * Sends a payment request for a phone of this row (a refund: of this collection), which must be accepted; returns its
 * reference.
 */
export async function submit(
  client: WireClient,
  kind: Sent,
  target: string,
  { callbackUrl, changes }: { readonly callbackUrl?: string; readonly changes?: Record<string, unknown> } = {},
): Promise<string> {
  const reference = randomUUID();
  const body = { requestToPay: payment, transfer: payout, refund: refundOf }[kind](target, reference, changes);
  const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': callbackUrl };
  assert.equal((await client[kind](body, headers)).status, 202);
  return reference;
}

export function assertRefused({ status, body }: WireResponse, expected: number, code: string | undefined): void {
  assert.deepEqual([status, body?.['code']], [expected, code]);
}

export function isDecided({ body }: WireResponse): boolean {
  return body?.['status'] !== 'PENDING';
}

export function hasStatus(status: string): (response: WireResponse) => boolean {
  return ({ body }) => body?.['status'] === status;
}

export function hasAtLeast(count: number): (list: readonly unknown[]) => boolean {
  return ({ length }) => length >= count;
}

export function callbacksOf({ callbacks }: Pick<Receiver, 'callbacks'>, reference: string): Callback[] {
  return callbacks.filter(({ body }) => body['externalId'] === reference);
}

/** The statuses in the callbacks for this reference, in order of arrival. */
export function callbackStatuses(receiver: Pick<Receiver, 'callbacks'>, reference: string): unknown[] {
  return callbacksOf(receiver, reference).map(({ body }) => body['status']);
}

/** Repeats `read` until `isDone`; returns the last value after twenty seconds in any case. */
export async function until<T>(read: () => Promise<T> | T, isDone: (value: T) => boolean): Promise<T> {
  const endMs = performance.now() + 20_000;
  for (;;) {
    const value = await read();
    if (isDone(value) || performance.now() > endMs) return value;
    await sleep(5);
  }
}

/** Repeats both until `observe` took less than `limitMs`: what a machine that stalls for longer sees says nothing. */
export async function inTime<Prepared, Seen>(
  limitMs: number,
  prepare: () => Promise<Prepared>,
  observe: (prepared: Prepared) => Promise<Seen>,
): Promise<Seen> {
  for (;;) {
    const prepared = await prepare();
    const beganMs = performance.now();
    const seen = await observe(prepared);
    if (performance.now() - beganMs < limitMs) return seen;
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

export async function send(
  url: string,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
  body?: string,
): Promise<WireResponse> {
  const response = await request(url, { method, headers, body: body ?? null });
  const text = await response.body.text();
  return { status: response.statusCode, body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>) };
}

function withoutUndefined(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
