// Payouts for tests: a shop with money and people, and what they do through the service's own operations.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { putPolicy } from '../../../src/db/accounts/policy.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import type { Clocks } from '../../../src/domain/clocks.ts';
import { DomainError, type ErrorCode } from '../../../src/domain/errors.ts';
import type { StoredOutcome } from '../../../src/domain/payments/stored-outcome.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import type { ActedBy, Person, Role } from '../../../src/domain/accounts/member.ts';
import { DEFAULT_POLICY } from '../../../src/domain/accounts/policy.ts';
import type { MoneyOutKind, Payment } from '../../../src/domain/payments/payment.ts';
import type { Payout, PayoutState } from '../../../src/domain/payments/payout.ts';
import type { PayoutOutcomeInput } from '../../../src/domain/payments/payout-progress.ts';
import { createPayout, type CreatedPayout, type CreatePayout } from '../../../src/operations/payments/create-payout.ts';
import { endQueuedPayment, type EndQueuedPayment } from '../../../src/operations/payments/end-queued-payment.ts';
import { getBalance } from '../../../src/db/payments/ledger.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import {
  releasePayment,
  releasePayouts,
  type ReleasePayment,
  type ReleasePayouts,
} from '../../../src/operations/payments/release-payment.ts';
import { contextOf, makeCollection, makeMember, makeMerchant, paid, recorderOf } from '../rows.ts';
import { personWith } from '../../domain/accounts/persons.ts';
import { REQUEST } from '../../domain/payments/collections.ts';

/** A merchant with money, one person who requests payouts and two who may release them. */
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
  return personWith({ userId: await makeMember(db, merchantId, roles), merchantId, roles });
}

export async function setPolicy(
  db: Database,
  merchantId: MerchantId,
  policy: {
    readonly twoApproversAboveMinor?: bigint;
    readonly approverDailyLimitMinor?: bigint;
    readonly keyHeldLimitMinor?: bigint;
  },
): Promise<void> {
  const { twoApproversAboveMinor = null, approverDailyLimitMinor = null, keyHeldLimitMinor = null } = policy;
  const after = { ...DEFAULT_POLICY, twoApproversAboveMinor, approverDailyLimitMinor, keyHeldLimitMinor };
  await db.withTransaction((tx) => putPolicy(tx, merchantId, after, new Date()));
}

/** The available and the held balance. */
export async function balanceOf(db: Database, merchantId: MerchantId): Promise<[available: bigint, held: bigint]> {
  const { availableMinor, heldMinor } = await getBalance(db, merchantId);
  return [availableMinor, heldMinor];
}

export function actedBy(person: Person): ActedBy {
  return { person, address: '127.0.0.1', requestId: 'req_test' };
}

export type WithClocks = { readonly clocks?: Partial<Clocks> };
type RequestFields = Partial<CreatePayout> & WithClocks & { readonly reference?: string; readonly phone?: string };

/** Requests a payout of this amount, which may be refused. */
export function requestPayout(
  db: Database,
  shop: Shop,
  amountMinor: bigint,
  fields: RequestFields = {},
): Promise<CreatedPayout> {
  const { reference = 'SAL-1', phone = '256772000100', clocks, ...input } = fields;
  return createPayout(contextOf(db, clocks), {
    merchantId: shop.merchantId,
    merchantCurrency: 'UGX',
    createdBy: shop.maker.userId,
    apiKeyId: null,
    idempotencyKey: randomUUID(),
    request: { ...REQUEST, phone, amountMinor, reference },
    requestId: 'req_test',
    refusal: null,
    at: new Date(),
    ...input,
  });
}

/** A queued payout; fails when there is too little money for it. */
export async function queue(
  db: Database,
  shop: Shop,
  amountMinor: bigint,
  fields: RequestFields = {},
): Promise<Payout> {
  const created = await requestPayout(db, shop, amountMinor, fields);
  assert.ok(created.kind === 'accepted', created.response.body);
  return created.payments[0];
}

export function releaserOf<Kind extends MoneyOutKind>(kind: Kind) {
  return (
    db: Database,
    person: Person,
    id: Payment<Kind>['id'],
    { clocks, ...fields }: Partial<Omit<ReleasePayment, 'kind'>> & WithClocks = {},
  ): Promise<StoredOutcome<readonly [Payment<Kind>]>> =>
    releasePayment(contextOf(db, clocks), { kind, id, ...releaseInput(person), ...fields });
}

export const release = releaserOf('payout');

export function releaseMany(
  db: Database,
  person: Person,
  payoutIds: readonly string[],
  fields: Partial<ReleasePayouts> = {},
): Promise<StoredOutcome<readonly Payout[]>> {
  return releasePayouts(contextOf(db), { ...releaseInput(person), payoutIds, ...fields });
}

export function releaseInput(person: Person) {
  return {
    by: actedBy(person),
    idempotencyKey: randomUUID(),
    at: new Date(),
  } as const;
}

export function deciderOf<Kind extends MoneyOutKind>(kind: Kind) {
  return (
    db: Database,
    person: Person,
    id: Payment<Kind>['id'],
    decision: EndQueuedPayment['decision'],
  ): Promise<Payment<Kind>> =>
    endQueuedPayment(contextOf(db), { kind, id, by: actedBy(person), decision, at: new Date() });
}

export const decide = deciderOf('payout');

export const recordPayout = recorderOf('payout');

/** For a payout that a test lets expire. */
export const SOON_OVER = { clocks: { payoutExpiryMs: 200 } } as const;

/** The outcomes that bring a released payout to each state. */
const OUTCOMES: Readonly<Partial<Record<PayoutState, () => readonly PayoutOutcomeInput[]>>> = {
  reconciling: () => [{ kind: 'outcome_unknown' }],
  succeeded: () => [paid()],
  failed: () => [{ kind: 'declined', failureCode: 'payer_not_found' }],
  reversed: () => [paid(), { kind: 'returned' }],
};

/** A payout of the shop that the service's own operations brought to `state`. */
export async function makePayout(db: Database, shop: Shop, state: PayoutState, amountMinor = 1000n): Promise<Payout> {
  const payout = await queue(db, shop, amountMinor, state === 'expired' ? SOON_OVER : {});
  const { id } = payout;
  if (state === 'rejected') await decide(db, shop.approver, id, { kind: 'reject', reason: 'wrong person' });
  else if (state === 'cancelled') await decide(db, shop.maker, id, { kind: 'cancel' });
  else if (state === 'expired') await recordPayout(db, payout, { kind: 'approval_expired' }, payout.expiresAt);
  else if (state !== 'queued') await release(db, shop.approver, id);
  for (const transition of OUTCOMES[state]?.() ?? []) await recordPayout(db, payout, transition);
  const reached = await getPayout(db, shop.merchantId, id);
  assert.equal(reached.state, state);
  return reached;
}

/** The call's value, or the code of the domain error that it throws. Any other error fails the test. */
export async function codeOr<Value>(call: Promise<Value>): Promise<Value | ErrorCode> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}
