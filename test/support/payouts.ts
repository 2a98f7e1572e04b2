// Creates payouts over the API, lets people decide on them, and inspects them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Currency } from '../../src/domain/money.ts';
import type { PayoutState } from '../../src/domain/payments/payout.ts';
import { insertCollection } from '../../src/db/payments/collection.ts';
import { payoutWorkflowId } from '../../src/temporal/workflow-ids.ts';
import { countRows, newCollection, record, paid } from '../db/rows.ts';
import { collectionFields, type ApiResponse } from './api.ts';
import { eventually, PATIENCE_MS, type TestEnvironment, type TestMerchant } from './test-environment.ts';
import { createPayment, fetchAs, phoneFor, untilShownBy, type Payment } from './payments.ts';
import { logInAs } from './people.ts';
import { sandboxTransactions } from './sandbox-operator.ts';
import type { Browser } from './browser.ts';

export type Payout = Payment;

/** A payout as the API shows it. */
export type ShownPayout = Readonly<Record<string, unknown>> & {
  readonly state: PayoutState;
  readonly approval_state: string;
  readonly failure: { readonly code: string } | null;
};

/** Gives the merchant money to pay out, by a succeeded collection that is recorded as the service records it. */
export async function fund(
  { db }: TestEnvironment,
  { id: merchantId }: TestMerchant,
  amount: number,
  currency: Currency = 'UGX',
): Promise<void> {
  const collection = newCollection(merchantId, { amountMinor: BigInt(amount), currency });
  await db.withTransaction((tx) => insertCollection(tx, collection));
  await record(db, collection, { kind: 'prompt_accepted' });
  await record(db, collection, paid());
}

export type PayoutOptions = {
  readonly merchant?: TestMerchant;
  /** The currency of the merchant. */
  readonly currency?: Currency;
  readonly amount?: number;
  readonly phone?: string;
  readonly idempotencyKey?: string;
};

/** Creates a payout that the sandbox treats by `row`; fails unless it is accepted. */
export async function requestPayout(
  testEnv: TestEnvironment,
  row: string,
  options: PayoutOptions = {},
): Promise<Payout> {
  const { merchant = testEnv.merchant, amount = 5000, phone = phoneFor(row), idempotencyKey = randomUUID() } = options;
  const json = collectionFields({ phone, amount });
  const workflowId = payoutWorkflowId(merchant.id, idempotencyKey);
  return createPayment(testEnv, '/v1/api/payouts', { merchant, idempotencyKey, json, workflowId });
}

/** A payout that another person has released, of money that the merchant got for it. */
export async function releasedPayout(
  testEnv: TestEnvironment,
  row: string,
  options: PayoutOptions = {},
): Promise<Payout> {
  const { merchant = testEnv.merchant } = options;
  await fund(testEnv, merchant, 20_000, options.currency);
  const payout = await requestPayout(testEnv, row, options);
  const response = await release(await logInAs(testEnv, merchant.id, 'approver'), payout);
  assert.equal(response.status, 200, response.text);
  return payout;
}

export function releaseRefund(approver: Browser, id: string): Promise<ApiResponse> {
  return approver.call('POST', `/v1/console/reversals/${id}/release`, { idempotencyKey: randomUUID() });
}

export function release(approver: Browser, { id }: { readonly id: string }): Promise<ApiResponse> {
  return approver.call('POST', `/v1/console/payouts/${id}/release`, { idempotencyKey: randomUUID() });
}

export async function fetchPayout(testEnv: TestEnvironment, { id, merchant }: Payout): Promise<ShownPayout> {
  return fetchAs(testEnv, merchant, `/v1/api/payouts/${id}`);
}

/** Waits until the payout is in the state and returns it as the API then shows it. */
export const untilPayoutState = untilShownBy(fetchPayout);

/** Resolves once the operator's acceptance of the payout or refund is recorded. */
export function untilAccepted({ db }: TestEnvironment, { id }: { readonly id: string }): Promise<unknown> {
  const accepted = 'payments WHERE id = $1 AND accepted_at IS NOT NULL';
  return eventually('the acceptance', async () => (await countRows(db, accepted, [id])) > 0, PATIENCE_MS);
}

/** Available and held, as the API shows them. */
export async function balanceOf(
  testEnv: TestEnvironment,
  merchant: TestMerchant,
): Promise<[available: unknown, held: unknown]> {
  type Balance = { readonly available: unknown; readonly held: unknown };
  const { available, held } = await fetchAs<Balance>(testEnv, merchant, '/v1/api/balance');
  return [available, held];
}

/** How often the operator accepted the payout: more than once would lose money. */
export async function transfersAccepted(testEnv: TestEnvironment, { phone }: Payout): Promise<number> {
  const transactions = await sandboxTransactions(testEnv, phone);
  return transactions.reduce((sum, { transfersTaken: accepted }) => sum + accepted, 0);
}
