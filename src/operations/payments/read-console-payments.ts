// Reads collections, payouts and reversals for a merchant's people: in lists, and singly with all records of the payment.
import { findNames, type KnownKey, type Names } from '../../db/accounts/names.ts';
import { findCheckoutIds } from '../../db/payments/checkout-attempt.ts';
import { pageCollections, getCollection } from '../../db/payments/collection.ts';
import { listExchanges } from '../../db/payments/operator-exchange.ts';
import { judgePayouts } from '../../db/payments/payout-judgement.ts';
import { pagePayouts, getPayout } from '../../db/payments/payout.ts';
import { findLatestReversal, getReversal, listReversals, type ReversalFilter } from '../../db/payments/reversal.ts';
import { listGenerations } from '../../db/payments/send-generation.ts';
import {
  listCallbacks,
  listDeliveriesOfPayment,
  listDiscrepanciesOf,
  listRecordedStates,
  listReversalsOf,
  listTransfers,
  type ListedRef,
  type RecordedState,
  type RequestedReversal,
} from '../../db/payments/timeline.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import type { Page } from '../../db/platform/page.ts';
import { findOpenBreaker } from '../../db/work/breakers.ts';
import { findStatusQueries, type StatusQueries } from '../../db/work/status-queries.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import { DomainError } from '../../domain/errors.ts';
import type { CheckoutId, MerchantId, UserId } from '../../domain/ids.ts';
import { productOf } from '../../domain/payments/breaker.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import type { ListedPage, ListRequest } from '../../domain/payments/payment-list.ts';
import { isFinal, type MoneyOut } from '../../domain/payments/payment.ts';
import type { PayoutJudgement } from '../../domain/payments/payout-warnings.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import { generationOf, sendAgainAt } from '../../domain/payments/send-generation.ts';
import type { SendGeneration } from '../../domain/payments/payment-fields.ts';
import { inOrder, MOST_OF_A_KIND, type TimelineEntry } from '../../domain/payments/timeline.ts';

export type ConsoleCollection = {
  readonly collection: Collection;
  readonly createdBy: KnownPerson | null;
  readonly apiKey: KnownKey | null;
  /** The checkout at which a payer made the collection. */
  readonly checkoutId: CheckoutId | null;
};

/** The people of a payout or refund, besides its maker. */
type Deciders = {
  /** Oldest first. */
  readonly approvals: readonly { readonly person: KnownPerson; readonly approvedAt: Date }[];
  readonly decidedBy: KnownPerson | null;
};

export type ConsolePayout = Deciders & {
  readonly payout: Payout;
  readonly createdBy: KnownPerson;
  readonly apiKey: KnownKey | null;
  /** Null: the payout waits for no decision. */
  readonly judgement: PayoutJudgement | null;
};

/** A payout, who made it, and who approved it, oldest approval first. */
export type PayoutWithPeople = Payout & { readonly maker: KnownPerson; readonly approvers: readonly KnownPerson[] };

export type ConsoleReversal = Deciders & { readonly reversal: Reversal; readonly requestedBy: KnownPerson };

/** One page. `listPage` explains why a page may have fewer items. */
export async function listConsoleCollections(
  db: Database,
  merchantId: MerchantId,
  request: ListRequest,
): Promise<ListedPage<ConsoleCollection>> {
  const { items, next } = await pageCollections(db, merchantId, request);
  const people = items.map(({ createdBy }) => createdBy);
  const keys = items.map(({ apiKeyId }) => apiKeyId);
  const names = await findNames(db, merchantId, people, keys);
  const ids = items.map(({ id }) => id);
  const checkouts = await findCheckoutIds(db, ids);
  const named = items.map((collection) => ({
    collection,
    createdBy: collection.createdBy && names.person(collection.createdBy),
    apiKey: collection.apiKeyId && names.key(collection.apiKeyId),
    checkoutId: checkouts.get(collection.id) ?? null,
  }));
  return { items: named, next };
}

/** One page, as of `at`. `listPage` explains why a page may have fewer items. */
export async function listConsolePayouts(
  db: Database,
  merchantId: MerchantId,
  request: ListRequest,
  at: Date,
): Promise<ListedPage<ConsolePayout>> {
  const { items, next } = await pagePayouts(db, merchantId, request);
  const keys = items.map(({ apiKeyId }) => apiKeyId);
  const names = await findNames(db, merchantId, items.flatMap(peopleOf), keys);
  const queued = items.filter(({ state }) => state === 'queued');
  const judgements = await judgePayouts(db, merchantId, queued, at);
  const named = items.map((payout) => ({
    payout,
    createdBy: names.person(payout.createdBy),
    apiKey: payout.apiKeyId && names.key(payout.apiKeyId),
    ...decidersOf(payout, names),
    judgement: judgements.get(payout.id) ?? null,
  }));
  return { items: named, next };
}

/** One page by any combination of filters, each payout with its people by name. `listPage` explains why a page may have fewer items. */
export async function listPayoutsWithPeople(
  db: Database,
  merchantId: MerchantId,
  request: ListRequest,
): Promise<ListedPage<PayoutWithPeople>> {
  const { items, next } = await pagePayouts(db, merchantId, request);
  const people = items.flatMap(({ createdBy, approvals }) => [createdBy, ...approvals.map(({ userId }) => userId)]);
  const names = await findNames(db, merchantId, people, []);
  const named = items.map((payout) => ({
    ...payout,
    maker: names.person(payout.createdBy),
    approvers: payout.approvals.map(({ userId }) => names.person(userId)),
  }));
  return { items: named, next };
}

/** Throws `reversal_not_found`. */
export async function getConsoleReversal(
  db: Database,
  merchantId: MerchantId,
  id: string,
): Promise<ConsoleReversal & { readonly statusQueries: StatusQueries | null }> {
  const reversal = await getReversal(db, merchantId, id);
  const statusQueries = await findStatusQueries(db, reversal.id);
  return { ...(await withPeople(db, merchantId, reversal)), statusQueries };
}

/** The newest reversals that pass the filter, at most `limit`. */
export async function listConsoleReversals(
  db: Database,
  merchantId: MerchantId,
  filter: ReversalFilter,
  limit: number,
): Promise<Page<ConsoleReversal & { readonly id: Reversal['id'] }>> {
  const { items, nextBefore } = await listReversals(db, merchantId, filter, limit);
  const names = await findNames(db, merchantId, items.flatMap(peopleOf), []);
  return { items: items.map((reversal) => ({ id: reversal.id, ...toConsoleReversal(reversal, names) })), nextBefore };
}

/** Throws `collection_not_found`, and `reversal_not_found` for a collection without a requested reversal. */
export async function getLatestReversal(
  db: Database,
  merchantId: MerchantId,
  collectionId: string,
): Promise<ConsoleReversal> {
  const collection = await getCollection(db, merchantId, collectionId);
  const reversal = await findLatestReversal(db, merchantId, collection.id);
  if (reversal) return withPeople(db, merchantId, reversal);
  throw new DomainError('reversal_not_found', 'Nobody has requested a reversal of this collection.');
}

async function withPeople(db: Database, merchantId: MerchantId, reversal: Reversal): Promise<ConsoleReversal> {
  return toConsoleReversal(reversal, await findNames(db, merchantId, peopleOf(reversal), []));
}

function toConsoleReversal(reversal: Reversal, names: Names): ConsoleReversal {
  return { reversal, requestedBy: names.person(reversal.createdBy), ...decidersOf(reversal, names) };
}

function peopleOf({ createdBy, decidedBy, approvals }: MoneyOut): (UserId | null)[] {
  return [createdBy, decidedBy, ...approvals.map(({ userId }) => userId)];
}

function decidersOf({ approvals, decidedBy }: MoneyOut, names: Names): Deciders {
  return {
    approvals: approvals.map(({ userId, approvedAt }) => ({ person: names.person(userId), approvedAt })),
    decidedBy: decidedBy && names.person(decidedBy),
  };
}

/** The collection with all its records, as of one moment. Throws `collection_not_found`. */
export async function getCollectionTimeline(db: Database, merchantId: MerchantId, id: string) {
  return db.withTransaction(async (tx) => {
    const collection = await getCollection(tx, merchantId, id);
    const ref: ListedRef = { kind: 'collection', id: collection.id, merchantId };
    const reversals = await listReversalsOf(tx, merchantId, collection.id);
    const people = [collection.createdBy, ...reversals.map(({ requestedBy }) => requestedBy)];
    const names = await findNames(tx, merchantId, people, [collection.apiKeyId]);
    const createdBy = collection.createdBy && names.person(collection.createdBy);
    const timeline = inOrder([
      createdEntry(collection, createdBy),
      ...statesOf(await listRecordedStates(tx, ref), () => null),
      ...reversals.map((reversal) => reversalEntry(reversal, names)),
      ...(await readShared(tx, ref, reversals)),
      ...(await findDelay(tx, collection)),
    ]);
    const apiKey = collection.apiKeyId && names.key(collection.apiKeyId);
    const checkoutId = (await findCheckoutIds(tx, [collection.id])).get(collection.id) ?? null;
    const statusQueries = await findStatusQueries(tx, collection.id);
    return { collection, createdBy, apiKey, checkoutId, timeline, statusQueries };
  });
}

/** The payout with all its records, as of one moment. Throws `payout_not_found`. */
export async function getPayoutTimeline(db: Database, merchantId: MerchantId, id: string, at: Date) {
  return db.withTransaction(async (tx) => {
    const payout = await getPayout(tx, merchantId, id);
    const ref: ListedRef = { kind: 'payout', id: payout.id, merchantId };
    const names = await findNames(tx, merchantId, peopleOf(payout), [payout.apiKeyId]);
    const { approvals, decidedBy } = decidersOf(payout, names);
    const createdBy = names.person(payout.createdBy);
    const actors: Actors = { createdBy, releasedBy: approvals.at(-1)?.person ?? null, decidedBy };
    const timeline = inOrder([
      ...statesOf(await listRecordedStates(tx, ref), (state) => actorOf(state, actors)),
      ...approvals.map(({ person, approvedAt }): TimelineEntry => ({
        kind: 'approval',
        at: approvedAt,
        detail: person,
      })),
      ...(await readShared(tx, ref, [])),
      ...generationsOf(payout, await listGenerations(tx, payout, MOST_OF_A_KIND)),
      ...(await findDelay(tx, payout)),
    ]);
    const apiKey = payout.apiKeyId && names.key(payout.apiKeyId);
    const judged = payout.state === 'queued' ? [payout] : [];
    const judgement = (await judgePayouts(tx, merchantId, judged, at)).get(payout.id) ?? null;
    const statusQueries = await findStatusQueries(tx, payout.id);
    return { payout, createdBy, apiKey, approvals, decidedBy, judgement, timeline, statusQueries };
  });
}

async function readShared(tx: Tx, ref: ListedRef, reversals: readonly RequestedReversal[]): Promise<TimelineEntry[]> {
  const ids = [ref.id, ...reversals.map(({ id }) => id)];
  const exchanges = await listExchanges(tx, ids, MOST_OF_A_KIND);
  return [
    ...exchanges.map((detail): TimelineEntry => ({ kind: 'operator_exchange', at: detail.startedAt, detail })),
    ...(await listCallbacks(tx, ref)),
    ...(await listTransfers(tx, ref)),
    ...(await listDeliveriesOfPayment(tx, ref)),
    ...(await listDiscrepanciesOf(tx, ids)),
  ];
}

function generationsOf(payout: Payout, generations: readonly SendGeneration[]): TimelineEntry[] {
  const isAnyWaiting = sendAgainAt(payout) !== null;
  return generations.map(({ number, recordedAt: at, operatorReference, sendAfter }) => {
    const isWaiting = isAnyWaiting && number === generationOf(payout);
    return { kind: 'float_low', at, detail: { operator: payout.operator, operatorReference, sendAfter, isWaiting } };
  });
}

/** A queued payment is not delayed: it waits for people. */
async function findDelay(tx: Tx, payment: Collection | Payout): Promise<TimelineEntry[]> {
  const { operator, state, updatedAt, sendBegunAt } = payment;
  if (isFinal(state) || state === 'queued') return [];
  const breaker = await findOpenBreaker(tx, operator, productOf(payment.kind));
  if (breaker === null) return [];
  const at = breaker.openedAt > updatedAt ? breaker.openedAt : updatedAt;
  return [{ kind: 'operator_delayed', at, detail: { operator, isSendBegun: sendBegunAt !== null } }];
}

// No event reports that a collection was created.
function createdEntry({ createdAt }: Collection, by: KnownPerson | null): TimelineEntry {
  return {
    kind: 'state',
    at: createdAt,
    detail: { state: 'initiated', previousState: null, isLate: false, eventId: null, by },
  };
}

type State = Extract<TimelineEntry, { kind: 'state' }>['detail']['state'];

function statesOf(rows: readonly RecordedState[], by: (state: State) => KnownPerson | null): TimelineEntry[] {
  return rows.map(({ type, createdAt, ...row }) => {
    const state = type.slice(type.indexOf('.') + 1) as State;
    return { kind: 'state', at: createdAt, detail: { ...row, state, by: by(state) } };
  });
}

type Actors = {
  readonly createdBy: KnownPerson;
  readonly releasedBy: KnownPerson | null;
  readonly decidedBy: KnownPerson | null;
};

function actorOf(state: State, { createdBy, releasedBy, decidedBy }: Actors): KnownPerson | null {
  if (state === 'queued') return createdBy;
  if (state === 'released') return releasedBy;
  return state === 'rejected' || state === 'cancelled' ? decidedBy : null;
}

function reversalEntry({ id, state, requestedBy, createdAt }: RequestedReversal, names: Names): TimelineEntry {
  return { kind: 'reversal', at: createdAt, detail: { id, state, requestedBy: names.person(requestedBy) } };
}
