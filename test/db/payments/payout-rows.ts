// Payouts and reversals for the database's tests: a shop with money and people, and what they do, as the service does it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/db/database.ts';
import type { Clocks } from '../../../src/domain/clocks.ts';
import { DomainError, type ErrorCode } from '../../../src/domain/errors.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import type { MerchantId, PayoutId } from '../../../src/domain/ids.ts';
import type { ActedBy, Person, Role } from '../../../src/domain/accounts/member.ts';
import type { Payout, PayoutState } from '../../../src/domain/payments/payout.ts';
import type { PayoutOutcomeInput } from '../../../src/domain/payments/payout-progress.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import type { ReversalTransitionInput } from '../../../src/domain/payments/reversal-progress.ts';
import { createPayout, type CreatedPayout, type CreatePayout } from '../../../src/operations/payments/create-payout.ts';
import { createReversal, type CreateReversal } from '../../../src/operations/payments/create-reversal.ts';
import { decidePayout, type DecidePayout } from '../../../src/operations/payments/decide-payout.ts';
import { getPayout } from '../../../src/queries/payments/get-payout.ts';
import { recordPayoutTransition } from '../../../src/operations/payments/record-payout-transition.ts';
import { recordReversalTransition } from '../../../src/operations/payments/record-reversal-transition.ts';
import {
  releasePayout,
  releasePayouts,
  type ReleasedPayout,
  type ReleasedPayouts,
  type ReleasePayout,
  type ReleasePayouts,
} from '../../../src/operations/payments/release-payout.ts';
import { contextOf, makeCollection, makeMember, makeMerchant } from '../rows.ts';

/** A merchant with money, who has one person that asks for payouts and two that may release them. */
export type Shop = {
  readonly merchantId: MerchantId;
  readonly maker: Person;
  readonly approver: Person;
  readonly otherApprover: Person;
};

export async function makeShop(db: Database, balanceMinor: bigint): Promise<Shop> {
  const merchantId = await makeMerchant(db);
  if (balanceMinor > 0n) await makeCollection(db, merchantId, 'succeeded', { amountMinor: balanceMinor });
  return {
    merchantId,
    maker: await makePerson(db, merchantId, ['maker']),
    approver: await makePerson(db, merchantId, ['approver']),
    otherApprover: await makePerson(db, merchantId, ['approver']),
  };
}

export async function makePerson(db: Database, merchantId: MerchantId, roles: readonly Role[]): Promise<Person> {
  const userId = await makeMember(db, merchantId, roles);
  return { userId, merchantId, merchantCurrency: 'UGX', roles, hasSecondFactor: false, secondFactorAt: null };
}

/** What the merchant asks for beyond the second person. */
export async function setPolicy(
  db: Database,
  merchantId: MerchantId,
  policy: { readonly twoApproversAboveMinor?: bigint; readonly approverDailyLimitMinor?: bigint },
): Promise<void> {
  await db.pool.query(
    `INSERT INTO policies (merchant_id, two_approvers_above_minor, approver_daily_limit_minor, updated_at)
     VALUES ($1, $2, $3, now())
     ON CONFLICT (merchant_id) DO UPDATE SET two_approvers_above_minor = excluded.two_approvers_above_minor,
       approver_daily_limit_minor = excluded.approver_daily_limit_minor`,
    [merchantId, policy.twoApproversAboveMinor ?? null, policy.approverDailyLimitMinor ?? null],
  );
}

export function actedBy(person: Person): ActedBy {
  return { person, address: '127.0.0.1', requestId: 'req_test' };
}

type WithClocks = { readonly clocks?: Partial<Clocks> };
type Asked = Partial<CreatePayout> & WithClocks & { readonly reference?: string; readonly phone?: string };

/** Asks for a payout of so much; the answer as it comes. */
export function ask(db: Database, shop: Shop, amountMinor: bigint, fields: Asked = {}): Promise<CreatedPayout> {
  const { reference = 'SAL-1', phone = '256772000100', clocks, ...input } = fields;
  return createPayout(contextOf(db, clocks), {
    merchantId: shop.merchantId,
    merchantCurrency: 'UGX',
    createdBy: shop.maker.userId,
    apiKeyId: null,
    idempotencyKey: randomUUID(),
    request: { phone, amountMinor, reference, currency: null, description: null, metadata: {} },
    requestId: 'req_test',
    isAcceptingWork: true,
    at: new Date(),
    ...input,
  });
}

/** A payout that waits to be released; fails when there is too little money for it. */
export async function queue(db: Database, shop: Shop, amountMinor: bigint, fields: Asked = {}): Promise<Payout> {
  const created = await ask(db, shop, amountMinor, fields);
  assert.ok(created.kind === 'created', created.answer.body);
  return created.payout;
}

export function release(
  db: Database,
  person: Person,
  payoutId: PayoutId,
  { clocks, ...fields }: Partial<ReleasePayout> & WithClocks = {},
): Promise<ReleasedPayout> {
  return releasePayout(contextOf(db, clocks), { ...releaseInput(person), payoutId, ...fields });
}

export function releaseMany(
  db: Database,
  person: Person,
  payoutIds: readonly string[],
  fields: Partial<ReleasePayouts> = {},
): Promise<ReleasedPayouts> {
  return releasePayouts(contextOf(db), { ...releaseInput(person), payoutIds, ...fields });
}

function releaseInput(person: Person) {
  return {
    by: actedBy(person),
    idempotencyKey: randomUUID(),
    at: new Date(),
  } as const;
}

export function decide(
  db: Database,
  person: Person,
  payoutId: PayoutId,
  decision: DecidePayout['decision'],
): Promise<Payout> {
  return decidePayout(contextOf(db), { by: actedBy(person), payoutId, decision, at: new Date() });
}

export function recordPayout(
  db: Database,
  ref: Pick<Payout, 'id' | 'merchantId'>,
  transition: PayoutOutcomeInput,
  at = new Date(),
): Promise<Payout> {
  return recordPayoutTransition(contextOf(db), { ref, transition, at });
}

/**
 * For a payout that a test lets run out. The moment it does is a little ahead of the clock, and never far: ids of this
 * process go on from the latest moment that one was made at.
 */
export const SOON_OVER = { clocks: { payoutExpiryMs: 200 } } as const;

/** What the operator says of a released payout on its way to each state. */
const STATUSES: Readonly<Partial<Record<PayoutState, readonly PayoutOutcomeInput[]>>> = {
  reconciling: [{ kind: 'outcome_unknown' }],
  succeeded: [{ kind: 'paid', operatorReceipt: '42' }],
  failed: [{ kind: 'declined', failureCode: 'payer_not_found' }],
  reversed: [{ kind: 'paid', operatorReceipt: '42' }, { kind: 'returned' }],
};

/** A payout of the shop, brought to `state` the way the service does it. */
export async function makePayout(db: Database, shop: Shop, state: PayoutState, amountMinor = 1000n): Promise<Payout> {
  const payout = await queue(db, shop, amountMinor, state === 'expired' ? SOON_OVER : {});
  const { id } = payout;
  if (state === 'rejected') await decide(db, shop.approver, id, { kind: 'reject', reason: 'wrong person' });
  else if (state === 'cancelled') await decide(db, shop.maker, id, { kind: 'cancel' });
  else if (state === 'expired') await recordPayout(db, payout, { kind: 'approval_expired' }, payout.expiresAt);
  else if (state !== 'queued') await release(db, shop.approver, id);
  for (const transition of STATUSES[state] ?? []) await recordPayout(db, payout, transition);
  const made = await getPayout(db, shop.merchantId, id);
  assert.equal(made.state, state);
  return made;
}

export function askBack(
  db: Database,
  person: Person,
  collectionId: string,
  { clocks, ...fields }: Partial<CreateReversal> & WithClocks = {},
): ReturnType<typeof createReversal> {
  return createReversal(contextOf(db, clocks), {
    by: actedBy(person),
    collectionId,
    idempotencyKey: randomUUID(),
    at: new Date(),
    ...fields,
  });
}

/** A reversal that is being sent. */
export async function makeReversal(
  db: Database,
  person: Person,
  collection: Pick<Collection, 'id'>,
): Promise<Reversal> {
  const created = await askBack(db, person, collection.id);
  assert.ok(created.kind === 'created', created.answer.body);
  return created.reversal;
}

export async function recordReversal(
  db: Database,
  ref: Pick<Reversal, 'id' | 'merchantId'>,
  transition: ReversalTransitionInput,
  at = new Date(),
): Promise<Reversal> {
  return (await recordReversalTransition(contextOf(db), { ref, transition, at })).reversal;
}

/** Records that the operator refunded; whether the money that went back is posted. */
export async function bookRefund(db: Database, ref: Reversal): Promise<boolean> {
  const input = { ref, transition: { kind: 'refunded' }, at: new Date() } as const;
  return (await recordReversalTransition(contextOf(db), input)).isPosted;
}

/** The code that a call is refused with, or what it gave. Anything else that is thrown fails the test. */
export async function codeOr<Value>(call: Promise<Value>): Promise<Value | ErrorCode> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}
