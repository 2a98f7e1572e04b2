// Makes payouts at a house's API, lets people decide on them, and looks at what became of them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { PayoutState } from '../../src/domain/payments/payout.ts';
import { insertCollection } from '../../src/db/payments/collection.ts';
import { payoutWorkflowId } from '../../workflows/contract.ts';
import { newCollection, record } from '../db/rows.ts';
import { call, collectionFields, type ApiResponse } from './api.ts';
import { eventually, type TestEnvironment, type TestMerchant } from './test-environment.ts';
import { sandboxTransactions, phoneFor } from './payments.ts';
import type { Browser } from './people.ts';

export type Payout = {
  readonly id: string;
  readonly phone: string;
  readonly amount: number;
  readonly operatorReference: string;
  readonly workflowId: string;
  readonly merchant: TestMerchant;
};

/** A payout as the API shows it. */
export type ShownPayout = Readonly<Record<string, unknown>> & {
  readonly state: PayoutState;
  readonly approval_state: string;
  readonly failure: { readonly code: string } | null;
};

/** Money to pay out with: a collection that was paid, recorded as the service does it. */
export async function fund({ db }: TestEnvironment, { id: merchantId }: TestMerchant, amount: number): Promise<void> {
  const collection = newCollection(merchantId, { amountMinor: BigInt(amount) });
  await db.withTransaction((tx) => insertCollection(tx, collection));
  await record(db, collection, { kind: 'prompt_accepted' });
  await record(db, collection, { kind: 'paid', operatorReceipt: '1' });
}

export type PayoutOptions = {
  readonly merchant?: TestMerchant;
  readonly amount?: number;
  readonly idempotencyKey?: string;
};

/** Asks for a payout that the sandbox treats by `row`; fails unless it is accepted. */
export async function requestPayout(
  testEnv: TestEnvironment,
  row: string,
  options: PayoutOptions = {},
): Promise<Payout> {
  const { merchant = testEnv.merchant, amount = 5000, idempotencyKey = randomUUID() } = options;
  const json = collectionFields({ phone: phoneFor(row), amount });
  const response = await call(testEnv.baseUrl, 'POST', '/v1/api/payouts', { key: merchant.key, idempotencyKey, json });
  assert.equal(response.status, 202, response.text);
  return {
    id: String(response.json['id']),
    phone: String(json['phone']),
    amount,
    operatorReference: String(response.json['operator_reference']),
    workflowId: payoutWorkflowId(merchant.id, idempotencyKey),
    merchant,
  };
}

export function release(approver: Browser, { id }: { readonly id: string }): Promise<ApiResponse> {
  return approver.call('POST', `/v1/console/payouts/${id}/release`, { idempotencyKey: randomUUID() });
}

export async function fetchPayout(testEnv: TestEnvironment, { id, merchant }: Payout): Promise<ShownPayout> {
  const response = await call(testEnv.baseUrl, 'GET', `/v1/api/payouts/${id}`, { key: merchant.key });
  assert.equal(response.status, 200, response.text);
  return response.json as unknown as ShownPayout;
}

/** Waits until the payout is in `state` and returns it as it then is. */
export async function untilPayoutState(
  testEnv: TestEnvironment,
  payout: Payout,
  state: PayoutState,
  timeoutMs = 30_000,
): Promise<ShownPayout> {
  let last: string | undefined;
  return eventually(
    `${payout.phone.slice(-3)} to be ${state}`,
    async () => {
      const shown = await fetchPayout(testEnv, payout);
      last = shown.state;
      return last === state ? shown : null;
    },
    timeoutMs,
  ).catch((error: unknown) => {
    throw new Error(`it was last seen ${last ?? 'nowhere'}`, { cause: error });
  });
}

/** Available and held, as the API shows them. */
export async function balanceOf(
  testEnv: TestEnvironment,
  { key }: TestMerchant,
): Promise<[available: unknown, held: unknown]> {
  const { json } = await call(testEnv.baseUrl, 'GET', '/v1/api/balance', { key });
  return [json['available'], json['held']];
}

/** How often the operator took the payout: once, or money is lost. */
export async function transfersAccepted(testEnv: TestEnvironment, { phone }: Payout): Promise<number> {
  const transactions = await sandboxTransactions(testEnv, phone);
  return transactions.reduce((sum, { transfersAccepted: taken }) => sum + taken, 0);
}
