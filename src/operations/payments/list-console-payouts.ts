// Reads payouts for a merchant's people: with names, and for those that wait what an approver should know.
import { findNames, type KnownKey } from '../../db/accounts/names.ts';
import type { Database, Queryable } from '../../db/platform/database.ts';
import { judgePayouts } from '../../db/payments/payout-judgement.ts';
import { pagePayouts } from '../../db/payments/payout.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { ListedPage, ListRequest } from '../../domain/payments/payment-list.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import type { PayoutJudgement } from '../../domain/payments/payout-warnings.ts';

export type ConsolePayout = {
  readonly payout: Payout;
  readonly createdBy: KnownPerson;
  readonly apiKey: KnownKey | null;
  /** Oldest first. */
  readonly approvals: readonly { readonly person: KnownPerson; readonly approvedAt: Date }[];
  readonly decidedBy: KnownPerson | null;
  /** Null: nobody decides on it any more. */
  readonly judgement: PayoutJudgement | null;
};

/** One page, as things are then; `listPage` says when it has fewer than it could. */
export async function listConsolePayouts(
  db: Database,
  merchantId: MerchantId,
  request: ListRequest,
  at: Date,
): Promise<ListedPage<ConsolePayout>> {
  const { items, next } = await pagePayouts(db, merchantId, request);
  return { items: await withNames(db, merchantId, items, at), next };
}

/** A payout, who made it, and who approved it, oldest approval first. */
export type PayoutWithPeople = Payout & { readonly maker: KnownPerson; readonly approvers: readonly KnownPerson[] };

/** One page by any combination of filters, each with its people by name; `listPage` says when it has fewer than it could. */
export async function listPayoutsWithPeople(
  db: Database,
  merchantId: MerchantId,
  request: ListRequest,
): Promise<ListedPage<PayoutWithPeople>> {
  const { items, next } = await pagePayouts(db, merchantId, request);
  const people = items.flatMap(({ createdBy, approvals }) => [createdBy, ...approvals.map(({ userId }) => userId)]);
  const names = await findNames(db, merchantId, people, []);
  return {
    items: items.map((payout) => ({
      ...payout,
      maker: names.person(payout.createdBy),
      approvers: payout.approvals.map(({ userId }) => names.person(userId)),
    })),
    next,
  };
}

async function withNames(
  db: Queryable,
  merchantId: MerchantId,
  payouts: readonly Payout[],
  at: Date,
): Promise<ConsolePayout[]> {
  const people = payouts.flatMap(({ createdBy, approvals, decidedBy }) => [
    createdBy,
    decidedBy,
    ...approvals.map(({ userId }) => userId),
  ]);
  const keys = payouts.map(({ apiKeyId }) => apiKeyId);
  const names = await findNames(db, merchantId, people, keys);
  const queued = payouts.filter(({ state }) => state === 'queued');
  const judgements = await judgePayouts(db, merchantId, queued, at);
  return payouts.map((payout) => ({
    payout,
    createdBy: names.person(payout.createdBy),
    apiKey: payout.apiKeyId && names.key(payout.apiKeyId),
    approvals: payout.approvals.map(({ userId, approvedAt }) => ({ person: names.person(userId), approvedAt })),
    decidedBy: payout.decidedBy && names.person(payout.decidedBy),
    judgement: judgements.get(payout.id) ?? null,
  }));
}
