// Creates collections over the API and inspects them from every side: API, database, sandbox and receiver.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { collectionWorkflowId } from '../../src/temporal/workflow-ids.ts';
import type { Database } from '../../src/db/platform/database.ts';
import type { CollectionState } from '../../src/domain/payments/collection.ts';
import { checkLedger } from '../../src/operations/payments/check-ledger.ts';
import { call, collectionFields, type CollectionFields } from './api.ts';
import { eventually, PATIENCE_MS, type TestEnvironment, type TestMerchant } from './test-environment.ts';

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

/** Waits until the collection is in the state and returns it as the API then shows it. */
export const untilState = untilShownBy(fetchPayment);

/** Returns what waits until `fetch` shows a payment in a state, and returns what it shows; it fails with the last state. */
export function untilShownBy<Shown extends { readonly state: string }>(
  fetch: (testEnv: TestEnvironment, payment: Payment) => Promise<Shown>,
) {
  return async (
    testEnv: TestEnvironment,
    payment: Payment,
    state: Shown['state'],
    timeoutMs = PATIENCE_MS,
  ): Promise<Shown> => {
    let last: string | undefined;
    const look = async () => {
      const shown = await fetch(testEnv, payment);
      last = shown.state;
      return last === state ? shown : null;
    };
    return eventually(`${payment.phone.slice(-3)} to be ${state}`, look, timeoutMs).catch((error: unknown) => {
      throw new Error(`its last state was ${last ?? 'unknown'}`, { cause: error });
    });
  };
}

export async function availableBalance(testEnv: TestEnvironment, merchant: TestMerchant): Promise<unknown> {
  return (await fetchAs<{ available: unknown }>(testEnv, merchant, '/v1/api/balance')).available;
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
  await db.pool.query(`UPDATE work SET claimed_until = now() - interval '1 ms' WHERE claimed_until IS NOT NULL`);
}
