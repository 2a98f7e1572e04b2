// Creates collections over the API and inspects them from every side: API, database, sandbox and receiver.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { collectionWorkflowId } from '../../src/temporal/workflow-ids.ts';
import type { Database } from '../../src/db/platform/database.ts';
import type { CollectionState } from '../../src/domain/payments/collection.ts';
import { checkLedger } from '../../src/operations/payments/check-ledger.ts';
import { call, collectionFields, type CollectionFields } from './api.ts';
import { eventually, PATIENCE_MS, type TestEnvironment, type TestMerchant } from './test-environment.ts';
import type { ReceivedEvent } from './receiver.ts';

/** A collection or a payout that was created over the API. */
export type Payment = {
  readonly id: string;
  readonly phone: string;
  readonly amount: number;
  readonly operatorReference: string;
  readonly workflowId: string;
  readonly idempotencyKey: string;
  readonly merchant: TestMerchant;
};

/** A collection as the API shows it. */
export type ShownCollection = Readonly<Record<string, unknown>> & {
  readonly state: CollectionState;
  readonly failure: { readonly code: string } | null;
};

/** The transitions of a collection that is paid in the ordinary way, as `transitionsOf` gives them. */
export const PAID_TRANSITIONS = ['initiated > prompted', 'prompted > succeeded'];

let phones = 0;

/** A mobile number of MTN Uganda that is unique in this run and ends in `row`. */
export function phoneFor(row: string): string {
  phones += 1;
  return `25677${String(phones).padStart(4, '0')}${row}`;
}

export type CollectionOptions = {
  readonly merchant?: TestMerchant;
  readonly fields?: CollectionFields;
  readonly idempotencyKey?: string;
};

/** Creates a collection that the sandbox treats by `row`; fails unless it is accepted. */
export async function pay(testEnv: TestEnvironment, row: string, options: CollectionOptions = {}): Promise<Payment> {
  const { merchant = testEnv.merchant, idempotencyKey = randomUUID() } = options;
  const json = collectionFields({ phone: phoneFor(row), ...options.fields });
  const workflowId = collectionWorkflowId(merchant.id, idempotencyKey);
  return createPayment(testEnv, '/v1/api/collections', { merchant, idempotencyKey, json, workflowId });
}

export type PaymentRequest = Pick<Payment, 'merchant' | 'workflowId' | 'idempotencyKey'> & {
  readonly json: Readonly<Record<string, unknown>>;
};

/** Creates a collection or a payout; fails unless it is accepted. */
export async function createPayment(
  { baseUrl }: TestEnvironment,
  path: '/v1/api/collections' | '/v1/api/payouts',
  { merchant, idempotencyKey, json, workflowId }: PaymentRequest,
): Promise<Payment> {
  const response = await call(baseUrl, 'POST', path, { key: merchant.key, idempotencyKey, json });
  assert.equal(response.status, 202, response.text);
  return {
    id: String(response.json['id']),
    phone: String(json['phone']),
    amount: Number(json['amount']),
    operatorReference: String(response.json['operator_reference']),
    workflowId,
    idempotencyKey,
    merchant,
  };
}

/** The object at this path, as the API shows it to the merchant. */
export async function fetchAs<Shown>(
  { baseUrl }: TestEnvironment,
  { key }: TestMerchant,
  path: string,
): Promise<Shown> {
  const response = await call(baseUrl, 'GET', path, { key });
  assert.equal(response.status, 200, response.text);
  return response.json as unknown as Shown;
}

export async function fetchPayment(testEnv: TestEnvironment, { id, merchant }: Payment): Promise<ShownCollection> {
  return fetchAs(testEnv, merchant, `/v1/api/collections/${id}`);
}

/** Waits until the collection is in `state` and returns it as the API then shows it. */
export async function untilState(
  testEnv: TestEnvironment,
  payment: Payment,
  state: CollectionState,
  timeoutMs = PATIENCE_MS,
): Promise<ShownCollection> {
  return untilShownAs(payment, state, () => fetchPayment(testEnv, payment), timeoutMs);
}

/** Waits until `fetch` shows the payment in `state`, and returns what it shows; fails with the last state. */
export async function untilShownAs<Shown extends { readonly state: string }>(
  { phone }: Payment,
  state: Shown['state'],
  fetch: () => Promise<Shown>,
  timeoutMs: number,
): Promise<Shown> {
  let last: string | undefined;
  const look = async () => {
    const shown = await fetch();
    last = shown.state;
    return last === state ? shown : null;
  };
  return eventually(`${phone.slice(-3)} to be ${state}`, look, timeoutMs).catch((error: unknown) => {
    throw new Error(`its last state was ${last ?? 'unknown'}`, { cause: error });
  });
}

export async function availableBalance(testEnv: TestEnvironment, merchant: TestMerchant): Promise<unknown> {
  return (await fetchAs<{ available: unknown }>(testEnv, merchant, '/v1/api/balance')).available;
}

/** What the events of a collection or a payout are looked up by. */
export type EventSubject = Pick<Payment, 'id' | 'merchant'>;

export type StoredEvent = { readonly id: string; readonly type: string; readonly version: number };

/** The events of a payment as recorded, in their order. */
export async function storedEvents(db: Database, paymentId: string): Promise<StoredEvent[]> {
  const { rows } = await db.pool.query<StoredEvent>(
    'SELECT id, type, resource_version AS version FROM events WHERE payment_id = $1 ORDER BY resource_version',
    [paymentId],
  );
  return rows;
}

/** The payment's events at the receiver, each once, in the order they were created. Fails on an invalid signature. */
export function receivedOnce(testEnv: TestEnvironment, { id, merchant }: EventSubject): ReceivedEvent[] {
  const received = testEnv.receiver.all(merchant.id).filter(({ event }) => event.data.object.id === id);
  for (const { isVerified, event } of received) assert.ok(isVerified, `${event.type} has a signature that verifies`);
  const byId = new Map(received.map(({ event }) => [event.id, event]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Waits until the receiver has every event that is recorded for the payment, then returns them. */
export async function untilAllReceived(
  testEnv: TestEnvironment,
  payment: EventSubject,
  timeoutMs = PATIENCE_MS,
): Promise<ReceivedEvent[]> {
  return eventually(
    `the receiver to have every event of ${payment.id}`,
    async () => {
      const stored = await storedEvents(testEnv.db, payment.id);
      const received = receivedOnce(testEnv, payment);
      return stored.length > 0 && stored.every(({ id }) => received.some((event) => event.id === id)) && received;
    },
    timeoutMs,
  );
}

/** One line per event: `initiated > prompted`, with ` late` where the event is marked so. */
export function transitionsOf(events: readonly ReceivedEvent[]): string[] {
  return events.map(({ type, data }) => {
    assert.match(type, new RegExp(`^(collection|payout)\\.${data.object.state}$`));
    return `${data.previous_state ?? 'nothing'} > ${data.object.state}${data.late === true ? ' late' : ''}`;
  });
}

export type SandboxTransaction = {
  readonly kind: 'collection' | 'payout' | 'refund';
  readonly operatorReference: string;
  readonly state: string;
  readonly requestsReceived: number;
  readonly promptsRaised: number;
  readonly transfersTaken: number;
  readonly callbacksSent: number;
  readonly callbackResults: readonly { readonly result: string }[];
};

export async function sandboxTransactions(testEnv: TestEnvironment, phone: string): Promise<SandboxTransaction[]> {
  const response = await fetch(`${testEnv.sandbox.url}/sandbox/transactions?phone=${phone}`);
  assert.equal(response.status, 200);
  return (await response.json()) as SandboxTransaction[];
}

/** How often the payer's phone was prompted. */
export async function promptsRaised(testEnv: TestEnvironment, phone: string): Promise<number> {
  const transactions = await sandboxTransactions(testEnv, phone);
  return transactions.reduce((sum, transaction) => sum + transaction.promptsRaised, 0);
}

/** Presses a button on one of the sandbox's decision pages; fails when it had no effect. */
export async function decideAtSandbox(
  testEnv: TestEnvironment,
  page: 'handset' | 'operator',
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  const body = new URLSearchParams(fields);
  const response = await fetch(`${testEnv.sandbox.url}/sandbox/${page}`, { method: 'POST', body, redirect: 'manual' });
  assert.equal(response.status, 303, await response.text());
  assert.match(String(response.headers.get('location')), /[?&]answered=/);
}

/** Sets the sandbox's fault switches; every switch that is not named is off. */
export async function switchFaults(
  testEnv: TestEnvironment,
  faults: { down?: boolean; latencyMs?: number; errorRate?: number },
): Promise<void> {
  const response = await fetch(`${testEnv.sandbox.url}/sandbox/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  });
  assert.equal(response.status, 200, await response.text());
}

/** Sends a callback like the operator's, or a forged one. */
export async function callBack(testEnv: TestEnvironment, operatorReference: string, status: string): Promise<Response> {
  return fetch(new URL('/operators/mtn-momo/callbacks', testEnv.baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ externalId: operatorReference, status, financialTransactionId: '1' }),
  });
}

/** Fails when any balance differs from what the payments in the database add up to. */
export async function assertLedgerIsSound(db: Database): Promise<void> {
  assert.deepEqual(await checkLedger(db), []);
}

/** Ends the leases of a dispatcher that has died, as if their time had passed. */
export async function expireLeases(db: Database): Promise<void> {
  await db.pool.query(`UPDATE deliveries SET leased_until = now() - interval '1 ms' WHERE leased_until IS NOT NULL`);
}
