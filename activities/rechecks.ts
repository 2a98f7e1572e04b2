// The activity that rechecks final payments of one operator: it queries them, and records what is news.
import { cancellationSignal } from '@temporalio/activity';
import type { Database } from '../src/db/platform/database.ts';
import { claimRechecks, type ClaimedRecheck } from '../src/db/work/rechecks.ts';
import { paymentClocks, type Clocks } from '../src/domain/clocks.ts';
import { findingIn, nextRecheck, type RecheckFinding } from '../src/domain/payments/late-checks.ts';
import { LIFECYCLES, type PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { AttestedStatus, PaymentTransitionInput } from '../src/domain/payments/operator-status.ts';
import { PAYMENT_KINDS, type PaymentKind, type PaymentRef } from '../src/domain/payments/payment.ts';
import { contradictionIn } from '../src/domain/payments/send-progress.ts';
import type { Log } from '../src/log.ts';
import { finishRechecks, type RecheckResult } from '../src/operations/payments/finish-rechecks.ts';
import { whileHeartbeating } from './heartbeats.ts';
import type { StatusQuery } from './status-query.ts';

export type RecheckActivityDeps = {
  readonly db: Database;
  readonly clocks: Clocks;
  readonly log: Log;
};

/** Records what follows from a status that a process of ours attested. Repeating it changes nothing. */
export type NewsRecorder = {
  recordTransition(news: {
    readonly ref: PaymentRef;
    readonly transition: PaymentTransitionInput;
    readonly attested: AttestedStatus;
  }): Promise<PaymentSnapshot>;
  recordDiscrepancy(news: { readonly ref: PaymentRef; readonly attested: AttestedStatus }): Promise<void>;
};

type RecheckDeps = RecheckActivityDeps & { readonly recorder: NewsRecorder };

export type RecheckActivities = ReturnType<typeof createRecheckActivities>;

/** How many final payments were rechecked. */
export type RecheckedBatch = {
  readonly rechecked: number;
  /** Of them, so many had news, and a workflow looks once more. */
  readonly withNews: number;
  /** Of them, the operator gave no status of so many. */
  readonly withoutStatus: number;
  /** Whether there may be more that are due. */
  readonly isFull: boolean;
};

// Of each kind, so that many of one delay no other.
const BATCH_SIZE = 25;
// A quarter of the connections to an operator by default, so that rechecks of one that hangs leave the most to pending payments.
const QUERIES_AT_ONCE = 4;

export function createRecheckActivities(deps: RecheckDeps, queryStatus: StatusQuery) {
  return {
    /**
     * Claims final payments of the operator whose recheck is due, 25 of each kind, queries each once, and records what is
     * news itself: what a workflow is told, the holder of Temporal decides. The payment’s own workflow then looks once more.
     * If its process dies, what it has claimed is due again after `staleAfterMs`.
     */
    async recheckBatch(operator: OperatorId): Promise<RecheckedBatch> {
      const batches = await whileHeartbeating(() => recheckAll(operator, deps, queryStatus));
      const finished = batches.flat();
      return {
        rechecked: finished.length,
        withNews: finished.filter(({ isNews }) => isNews).length,
        withoutStatus: finished.filter(({ finding }) => finding === 'no_status' || finding === 'failure').length,
        isFull: batches.some((batch) => batch.length >= BATCH_SIZE),
      };
    },
  };
}

type Finished = RecheckResult & { readonly finding: RecheckFinding };

/** Resolves to what was rechecked of each kind. */
async function recheckAll(operator: OperatorId, deps: RecheckDeps, queryStatus: StatusQuery): Promise<Finished[][]> {
  const { db, clocks, log } = deps;
  const all: Finished[][] = [];
  for (const kind of PAYMENT_KINDS) {
    const claimed = await claimRechecks(db, kind, { operator, limit: BATCH_SIZE, leaseMs: clocks.staleAfterMs });
    const batch: Finished[] = [];
    for (let first = 0; first < claimed.length; first += QUERIES_AT_ONCE) {
      cancellationSignal().throwIfAborted();
      const some = claimed.slice(first, first + QUERIES_AT_ONCE);
      const finished = await Promise.all(some.map((payment) => recheckOne(kind, payment, deps, queryStatus)));
      const givenUp = await finishRechecks(db, kind, finished, new Date());
      for (const { id, merchantId } of givenUp) {
        // Nobody knows whether the operator contradicts the outcome.
        log.error({ kind, id, merchantId }, 'the operator gives no status of a final payment: its rechecks end');
      }
      batch.push(...finished);
    }
    all.push(batch);
  }
  return all;
}

async function recheckOne(
  kind: PaymentKind,
  recheck: ClaimedRecheck,
  deps: RecheckDeps,
  queryStatus: StatusQuery,
): Promise<Finished> {
  const { clocks, log } = deps;
  const { id, merchantId, claimedAt } = recheck;
  let finding: RecheckFinding = 'failure';
  try {
    const ref = { kind, id, merchantId } as PaymentRef;
    const { snapshot, attested } = await queryStatus(ref);
    const found = findingIn(kind, snapshot, attested, paymentClocks(clocks));
    if (found === 'transition' || found === 'contradiction') await recordNews(kind, { ref, snapshot, attested }, deps);
    finding = found;
  } catch (error) {
    // One payment that cannot be rechecked holds up no other.
    log.error({ error, kind, id, merchantId }, 'a final payment could not be rechecked');
  }
  const at = new Date(Math.max(Date.now(), claimedAt.getTime()));
  const isNews = finding === 'transition' || finding === 'contradiction';
  return { recheck, finding, isNews, ...nextRecheck(recheck, finding, at, clocks) };
}

type Queried<Kind extends PaymentKind> = {
  readonly ref: PaymentRef;
  readonly snapshot: PaymentSnapshot<Kind>;
  readonly attested: AttestedStatus;
};

/** As a workflow of the payment would: what was paid and returned since takes two transitions. */
async function recordNews<Kind extends PaymentKind>(
  kind: Kind,
  { ref, snapshot: from, attested }: Queried<Kind>,
  { recorder, clocks }: RecheckDeps,
): Promise<void> {
  let snapshot = from;
  for (;;) {
    if (contradictionIn(kind, snapshot.state, attested.status) !== null) {
      await recorder.recordDiscrepancy({ ref, attested });
    }
    const transition = LIFECYCLES[kind].next(snapshot, attested, paymentClocks(clocks));
    if (transition === null) return;
    const next = (await recorder.recordTransition({ ref, transition, attested })) as PaymentSnapshot<Kind>;
    if (next.state === snapshot.state) return;
    snapshot = next;
  }
}
