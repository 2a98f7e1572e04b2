// The service of the model: what its workflow, its activities and its queue of status queries do with one payment, step by step, by several
// processes whose clocks differ. The decisions are the domain's own.
import { collectionSnapshot } from '../../../activities/payment-kinds.ts';
import type { Clocks } from '../../../src/domain/clocks.ts';
import { findingIn, nextRecheck } from '../../../src/domain/payments/late-checks.ts';
import {
  LIFECYCLES,
  needsOperatorStatus,
  type PaymentSnapshot,
  type TransitionInput,
} from '../../../src/domain/payments/lifecycle.ts';
import { basisOf, type QueriedStatus } from '../../../src/domain/payments/operator-status.ts';
import { isFinal, type MoneyOutKind } from '../../../src/domain/payments/payment.ts';
import { sendProgressOf } from '../../../src/domain/payments/recorded-send.ts';
import { generationOf, sendAgainAt } from '../../../src/domain/payments/send-generation.ts';
import { nextQueryDue } from '../../../src/domain/payments/status-schedule.ts';
import { operatorStatusOf } from '../../../src/operators/operator-status.ts';
import type { ModelOperator } from './operator.ts';
import type { Work } from './scheduler.ts';
import { maySend, type ModelPayment, type ModelStore } from './store.ts';

type ServiceDeps = {
  readonly store: ModelStore;
  readonly operator: ModelOperator;
  readonly clocks: Clocks;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** How much the clock of each process differs from the database's. */
  readonly skewsMs: readonly number[];
  /** How long a process stops between two steps, at most. */
  readonly pauseMs: number;
};

export type ModelService = {
  /** The payment's workflow, from the row's state to its end. */
  workflow(): Work;
  /** The queue of status queries, for ever. */
  queue(): Work;
  /** A callback, true or forged: the operator is asked. */
  callBack(): void;
};

const MINUTE_MS = 60_000;
const LEASE_MARGIN_MS = 15_000;
const RECORDING_MS = 2000;
const IS_ASKED_AT_CALLBACK: ReadonlySet<string> = new Set([
  'prompted',
  'reconciling',
  'succeeded',
  'failed',
  'expired',
]);

export function createModelService(deps: ServiceDeps): ModelService {
  const { store, operator, clocks, nowMs, random } = deps;
  const { sendsOnce } = store.row();
  const pause = () => random() * deps.pauseMs;
  /** The clock of one process. */
  const anyClock = () => {
    const skewMs = deps.skewsMs[Math.floor(random() * deps.skewsMs.length)] ?? 0;
    return () => new Date(nowMs() + skewMs);
  };

  /** Null: none may begin now. True: the first. */
  function* beginTry(generation: number, now: () => Date): Work<'first' | 'further' | 'later' | null> {
    if (store.beginSend(now(), generation)) return 'first';
    yield pause();
    const { sendBegunAt } = store.row();
    if (!sendsOnce) return store.repeatSend(now(), generation) ? 'further' : null;
    if (sendBegunAt === null || !maySend(store.row(), now())) return null;
    if (now().getTime() < sendBegunAt.getTime() + clocks.operatorTimeoutMs + RECORDING_MS) return 'later';
    store.record({ kind: 'outcome_unknown' }, { at: now(), basis: null, generation });
    return null;
  }

  function* trySend(): Work<'ended' | 'retry'> {
    const now = anyClock();
    // What the process read decides what it sends, even if the row has another generation by then.
    const before = store.row();
    const generation = generationOf(before);
    yield pause();
    const begun = yield* beginTry(generation, now);
    if (begun === 'later') return 'retry';
    yield pause();
    if (begun === null || !maySend(before, now())) return 'ended';
    const queriedAtMs = now().getTime();
    const outcome = yield* operator.send(generation);
    yield pause();
    if (outcome.kind === 'unknown' && sendsOnce) {
      if (outcome.cause === 'busy') store.takeBackSend();
      else store.record({ kind: 'outcome_unknown' }, { at: now(), basis: null, generation });
    }
    if (outcome.kind === 'unknown') return 'retry';
    if (outcome.kind === 'accepted') yield* apply(before, { status: { kind: 'pending' }, queriedAtMs }, now);
    else if (begun === 'first') {
      const basis = { kind: 'refused', queriedAtMs } as const;
      const isWaiting =
        outcome.isFloatLow === true && !store.isRepeated() && store.beginNextGeneration(generation, now()) === 'waits';
      if (!isWaiting) store.record({ kind: 'declined', failureCode: outcome.code }, { at: now(), basis, generation });
    }
    return 'ended';
  }

  /** As the recorder: each step is a transaction of its own, in which the row decides again. */
  function* apply(before: ModelPayment, queried: QueriedStatus, now: () => Date): Work {
    let snapshot = snapshotOf(before, clocks);
    const { status } = queried;
    const generation = generationOf(before);
    const isFloatLow = 'isFloatLow' in status;
    if (isFloatLow && store.beginNextGeneration(generation, now()) === 'waits') return;
    if (before.kind !== 'collection') {
      snapshot = yield* applyToSend(before.kind, snapshot, queried, { now, generation });
    }
    for (;;) {
      yield pause();
      const transition = nextOf(before.kind, snapshot, queried, clocks);
      if (transition === null) return;
      const basis = needsOperatorStatus(transition) ? basisOf(queried) : null;
      const after = snapshotOf(store.record(transition, { at: now(), basis, generation }), clocks);
      if (after.state === snapshot.state) return;
      snapshot = after;
    }
  }

  function* applyToSend(
    kind: MoneyOutKind,
    before: PaymentSnapshot,
    queried: QueriedStatus,
    { now, generation }: { readonly now: () => Date; readonly generation: number },
  ): Work<PaymentSnapshot> {
    const lifecycle = LIFECYCLES[kind];
    let snapshot = before;
    if (lifecycle.isAcceptanceUnrecorded(before as never, queried.status)) {
      store.markAccepted(now(), generation);
      snapshot = { ...before, isSendBegun: true, isAccepted: true };
    }
    const step = lifecycle.notFoundStep(snapshot as never, queried, clocks);
    if (step === null) return snapshot;
    yield pause();
    const queriedAt = new Date(Math.min(queried.queriedAtMs, now().getTime()));
    if (step === 'count') store.countNotFound(queriedAt);
    else store.resetNotFounds(queriedAt);
    return snapshotOf(store.row(), clocks);
  }

  /** The row before the query, and what the query said. */
  function* query(): Work<{ readonly before: ModelPayment; readonly queried: QueriedStatus }> {
    const now = anyClock();
    const before = store.row();
    yield pause();
    const queriedAtMs = now().getTime();
    const outcome = yield* operator.query(generationOf(before));
    const queried = { status: operatorStatusOf(outcome, before), queriedAtMs };
    yield* apply(before, queried, now);
    return { before, queried };
  }

  function* send(): Work {
    let waitMs = clocks.promptRetryMs;
    while ((yield* trySend()) === 'retry') {
      yield waitMs;
      waitMs = Math.min(2 * waitMs, clocks.promptRetryMaxMs);
    }
  }

  function nextDueMs(before: ModelPayment, queried: QueriedStatus): number | null {
    const at = new Date(nowMs());
    if (!isFinal(before.state)) return nextQueryDue(before, store.work.queries, at, clocks)?.dueAt.getTime() ?? null;
    const rechecked = { reason: store.recheckReason(), endedAt: before.updatedAt, calledBackAt: null };
    const finding = findingIn(before.kind, snapshotOf(before, clocks) as never, queried, clocks);
    return nextRecheck(rechecked, finding, at, clocks).dueAt?.getTime() ?? null;
  }

  return {
    *workflow() {
      const { state } = store.row();
      if (state === 'initiated' || state === 'released') yield* send();
      while (!isFinal(store.row().state)) {
        const row = store.row();
        const at = anyClock()();
        if (isNeverSent(row, at, clocks)) store.record({ kind: 'never_sent' }, { at, basis: null });
        if (row.state === 'initiated') yield* query();
        if (LIFECYCLES[row.kind].isSendDue(snapshotOf(row, clocks) as never, at.getTime())) yield* send();
        yield row.state === 'initiated' ? clocks.minimumQueryGapMs : 5 * MINUTE_MS * (1 + random());
      }
    },
    *queue() {
      for (;;) {
        const { dueAtMs } = store.work;
        if (dueAtMs === null || dueAtMs > nowMs()) {
          yield Math.min(60 * MINUTE_MS, (dueAtMs ?? Infinity) - nowMs());
          continue;
        }
        const leaseMs = nowMs() + clocks.operatorTimeoutMs + LEASE_MARGIN_MS;
        store.work.dueAtMs = leaseMs;
        const { before, queried } = yield* query();
        // A change has said itself when the payment is queried next.
        if (store.row().state !== before.state || store.work.dueAtMs !== leaseMs) continue;
        store.work.queries += 1;
        store.work.dueAtMs = nextDueMs(before, queried);
      }
    },
    callBack() {
      const { kind, state } = store.row();
      if (!IS_ASKED_AT_CALLBACK.has(state) || (kind !== 'collection' && state === 'expired')) return;
      store.work.dueAtMs = Math.min(store.work.dueAtMs ?? Infinity, nowMs());
    },
  };
}

function isNeverSent(row: ModelPayment, at: Date, clocks: Clocks): boolean {
  return LIFECYCLES[row.kind].isNeverSent(snapshotOf(row, clocks) as never, at.getTime());
}

function nextOf(
  kind: ModelPayment['kind'],
  snapshot: PaymentSnapshot,
  queried: QueriedStatus,
  clocks: Clocks,
): TransitionInput | null {
  return LIFECYCLES[kind].next(snapshot as never, queried, clocks);
}

function snapshotOf(row: ModelPayment, clocks: Clocks): PaymentSnapshot {
  if (row.kind === 'collection') return collectionSnapshot(row);
  const approvals = { approvals: 1, approvalsRequired: 1, expiresAtMs: row.expiresAt.getTime() };
  if (row.kind === 'reversal') {
    const { isCollectionReturned } = row;
    return { state: row.state, ...approvals, isCollectionReturned, ...sendProgressOf(row, clocks) };
  }
  const againAt = sendAgainAt(row);
  const again = againAt && { sendAgainAtMs: againAt.getTime() };
  return { state: row.state, ...approvals, ...sendProgressOf(row, clocks), ...again };
}
