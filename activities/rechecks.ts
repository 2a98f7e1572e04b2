// The activity that rechecks final payments of one operator: it queries them, and records what is news.
import { cancellationSignal } from '@temporalio/activity';
import { claimRechecks, type ClaimedRecheck } from '../src/db/work/rechecks.ts';
import { paymentClocks } from '../src/domain/clocks.ts';
import { findingIn, nextRecheck, type RecheckFinding } from '../src/domain/payments/late-checks.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import { PAYMENT_KINDS, type PaymentKind, type PaymentRef } from '../src/domain/payments/payment.ts';
import { finishRechecks, type RecheckResult } from '../src/operations/payments/finish-rechecks.ts';
import { recordExchange } from './exchanges.ts';
import { whileHeartbeating } from './heartbeats.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import type { PaymentKinds } from './payment-kinds.ts';
import { queryOperator, type StatusQueryDeps } from './status-query.ts';

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

type RecheckDeps = StatusQueryDeps & { readonly kinds: PaymentKinds; readonly recorder: OutcomeRecorder };

export function createRecheckActivities(queryDeps: StatusQueryDeps, kinds: PaymentKinds, recorder: OutcomeRecorder) {
  const deps: RecheckDeps = { ...queryDeps, kinds, recorder };
  return {
    /**
     * Claims final payments of the operator whose recheck is due, 25 of each kind, queries each once, and records what is
     * news itself: what a workflow is told, the holder of Temporal decides. The payment’s own workflow then looks once more.
     * If its process dies, what it has claimed is due again after `staleAfterMs`.
     */
    async recheckBatch(operator: OperatorId): Promise<RecheckedBatch> {
      const batches = await whileHeartbeating(() => recheckAll(operator, deps));
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
async function recheckAll(operator: OperatorId, deps: RecheckDeps): Promise<Finished[][]> {
  const { db, clocks, log } = deps;
  const all: Finished[][] = [];
  for (const kind of PAYMENT_KINDS) {
    const claimed = await claimRechecks(db, kind, { operator, limit: BATCH_SIZE, leaseMs: clocks.staleAfterMs });
    const batch: Finished[] = [];
    for (let first = 0; first < claimed.length; first += QUERIES_AT_ONCE) {
      cancellationSignal().throwIfAborted();
      const some = claimed.slice(first, first + QUERIES_AT_ONCE);
      const finished = await Promise.all(some.map((payment) => recheckOne(kind, payment, deps)));
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

async function recheckOne(kind: PaymentKind, recheck: ClaimedRecheck, deps: RecheckDeps): Promise<Finished> {
  const { clocks, log } = deps;
  const { id, merchantId, claimedAt } = recheck;
  let finding: RecheckFinding = 'failure';
  try {
    finding = await queryAndRecord({ kind, id, merchantId } as PaymentRef, deps);
  } catch (error) {
    // One payment that cannot be rechecked holds up no other.
    log.error({ error, kind, id, merchantId }, 'a final payment could not be rechecked');
  }
  const at = new Date(Math.max(Date.now(), claimedAt.getTime()));
  return { recheck, finding, isNews: isNews(finding), ...nextRecheck(recheck, finding, at, clocks) };
}

function isNews(finding: RecheckFinding): boolean {
  return finding === 'transition' || finding === 'contradiction';
}

async function queryAndRecord(ref: PaymentRef, deps: RecheckDeps): Promise<RecheckFinding> {
  const { kinds, recorder, clocks } = deps;
  const payment = await kinds.load(ref);
  const { queried, exchange } = await queryOperator(ref, payment, deps);
  const finding = findingIn(ref.kind, payment.snapshot, queried, paymentClocks(clocks));
  if (isNews(finding)) await recorder.recordStatus(ref, payment, queried, exchange);
  else await recordExchange(deps, ref, exchange);
  return finding;
}
