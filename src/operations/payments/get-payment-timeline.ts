// Reads one collection or payout with everything that is recorded of it, at one moment.
import { findNames, type Names } from '../../db/accounts/names.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { findCheckoutIds } from '../../db/payments/checkout-attempt.ts';
import { getCollection } from '../../db/payments/collection.ts';
import { listExchanges } from '../../db/payments/operator-exchange.ts';
import { judgePayouts } from '../../db/payments/payout-judgement.ts';
import { getPayout } from '../../db/payments/payout.ts';
import { findStatusQueries } from '../../db/work/status-queries.ts';
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
import type { KnownPerson } from '../../domain/accounts/member.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { inOrder, MOST_OF_A_KIND, type TimelineEntry } from '../../domain/payments/timeline.ts';

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
    ]);
    const apiKey = collection.apiKeyId && names.key(collection.apiKeyId);
    const checkoutId = (await findCheckoutIds(tx, [collection.id])).get(collection.id) ?? null;
    const statusQueries = await findStatusQueries(tx, collection.id);
    return { collection, createdBy, apiKey, checkoutId, timeline, statusQueries };
  });
}

export async function getPayoutTimeline(db: Database, merchantId: MerchantId, id: string, at: Date) {
  return db.withTransaction(async (tx) => {
    const payout = await getPayout(tx, merchantId, id);
    const ref: ListedRef = { kind: 'payout', id: payout.id, merchantId };
    const approvers = payout.approvals.map(({ userId }) => userId);
    const people = [payout.createdBy, payout.decidedBy, ...approvers];
    const names = await findNames(tx, merchantId, people, [payout.apiKeyId]);
    const approvals = payout.approvals.map(({ userId, approvedAt }) => ({ person: names.person(userId), approvedAt }));
    const createdBy = names.person(payout.createdBy);
    const decidedBy = payout.decidedBy && names.person(payout.decidedBy);
    const actors: Actors = { createdBy, releasedBy: approvals.at(-1)?.person ?? null, decidedBy };
    const timeline = inOrder([
      ...statesOf(await listRecordedStates(tx, ref), (state) => actorOf(state, actors)),
      ...approvals.map(({ person, approvedAt }): TimelineEntry => ({
        kind: 'approval',
        at: approvedAt,
        detail: person,
      })),
      ...(await readShared(tx, ref, [])),
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
