// Makes the status queries that are due: of pending payments by schedule and at their deadlines, and of final payments whose money may
// still move. The queue belongs to the role worker, and needs no Temporal.
import { setTimeout as sleep } from 'node:timers/promises';
import { createCoalescingLoop } from '../src/coalescing-loop.ts';
import { createBatcher } from '../src/db/platform/batcher.ts';
import type { Database } from '../src/db/platform/database.ts';
import {
  claimQueries,
  countDueQueries,
  findRechecked,
  postponeQueries,
  type ClaimedQuery,
} from '../src/db/work/status-queries.ts';
import { paymentClocks } from '../src/domain/clocks.ts';
import { findingIn, nextRecheck, type RecheckFinding } from '../src/domain/payments/late-checks.ts';
import { LIFECYCLES, type PaymentSnapshot } from '../src/domain/payments/lifecycle.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { QueriedStatus } from '../src/domain/payments/operator-status.ts';
import { isFinal, type PaymentKind, type PaymentRef } from '../src/domain/payments/payment.ts';
import { nextQueryDue } from '../src/domain/payments/status-schedule.ts';
import { QUERY_PRIORITY } from '../src/domain/work.ts';
import { finishStatusQueries, type QueryResult } from '../src/operations/payments/finish-status-queries.ts';
import { createQueryWindow, type QueryWindow } from './query-window.ts';
import type { PaymentAtOperator } from './exchanges.ts';
import type { PaymentActivityDeps } from './payment.ts';
import type { CallPermit, Held, QueryPermits } from './operator-calls.ts';
import { createMessages, type Messages, type MessageFindings } from './messages.ts';
import { createOutcomeRecorder, type OutcomeRecorder } from './outcome-recorder.ts';
import { createPaymentKinds, type LoadedPayment, type PaymentKinds } from './payment-kinds.ts';
import { queryOperator } from './status-query.ts';
import { recordUnasked } from './unasked.ts';

export type StatusQueueDeps = PaymentActivityDeps & {
  /** A database with its own connections, for claims and the ends of queries. */
  readonly queues: Database;
  /** How many queries by schedule may be in flight at an operator. */
  readonly maxInFlight: (operator: OperatorId) => number;
};

export type StatusQueue = {
  /** Begins no further query, and waits for the queries in flight. */
  stop(): Promise<void>;
};

const POLL_EVERY_MS = 1000;
/** Queries that end within this time are recorded in one statement, and the free places are claimed in one. */
const GATHER_MS = 50;
/** The wait until further grants of this second may be available. */
const NO_GRANT_PAUSE_MS = 200;
const MOST_PER_STATEMENT = 500;
// A query whose process died is due again this long after its timeout: it cannot be in flight any more.
const LEASE_MARGIN_MS = 15_000;

/** Any number of processes may run the queue on one database: each query is claimed by one process. */
export function startStatusQueue(deps: StatusQueueDeps): StatusQueue {
  const kinds = createPaymentKinds({ ...deps, recordedBy: () => 'other' });
  const recorder = createOutcomeRecorder(deps, kinds);
  const messages = createMessages(deps, kinds, recorder);
  const context: QueryContext = { ...deps, kinds, recorder, messages };
  const queues = (Object.keys(deps.operators) as OperatorId[]).map((operator) => startOperatorQueue(operator, context));
  return {
    async stop() {
      await Promise.all(queues.map((queue) => queue.stop()));
    },
  };
}

type QueryContext = StatusQueueDeps & {
  readonly kinds: PaymentKinds;
  readonly recorder: OutcomeRecorder;
  readonly messages: Messages;
};

function startOperatorQueue(operator: OperatorId, context: QueryContext): StatusQueue {
  const { queues, calls, clocks, log } = context;
  const window = createQueryWindow({ max: context.maxInFlight(operator), roundMs: clocks.operatorTimeoutMs });
  const inFlight = new Set<Promise<void>>();
  let isStopped = false;
  const ends = createBatcher<QueryResult>({
    maxItems: MOST_PER_STATEMENT,
    pauseMs: GATHER_MS,
    handle: (results) => finish(results, context),
  });

  async function claim(): Promise<void> {
    while (!isStopped) {
      const free = window.size() - inFlight.size;
      if (free < 1) return;
      const due = await countDueQueries(queues, operator, free);
      if (due === 0) return;
      const { groups, held } = await calls.permitQueries(operator, due);
      let moved = 0;
      for (const one of held) moved += await postpone(operator, one, context);
      let claimed = 0;
      for (const group of groups) claimed += await claimGroup(operator, group, context, begin);
      if (claimed > 0 || moved > 0) continue;
      if (groups.length > 0) return;
      await sleep(NO_GRANT_PAUSE_MS);
    }
  }

  const loop = createCoalescingLoop({
    pass: claim,
    onError: (error) => {
      log.error({ error, operator }, 'due status queries could not be claimed');
    },
    pauseMs: GATHER_MS,
  });
  const timer = setInterval(loop.wake, POLL_EVERY_MS);
  loop.wake();

  function begin(query: ClaimedQuery, permit: CallPermit): void {
    const running = queryOne({ ...query, operator, permit }, window, context)
      .then((result) => {
        // Not awaited: an answered query takes no place among the queries in flight.
        ends.add(result).catch((error: unknown) => {
          log.warn({ error, id: query.id }, 'the end of a status query could not be recorded; it is made again');
        });
      })
      .finally(() => {
        inFlight.delete(running);
        loop.wakeSoon();
      });
    inFlight.add(running);
  }

  return {
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await loop.stop();
      await Promise.all(inFlight);
      await ends.drain();
    },
  };
}

async function finish(results: readonly QueryResult[], { queues, log }: QueryContext): Promise<void> {
  for (const { kind, id, merchantId } of await finishStatusQueries(queues, results, new Date())) {
    // Nobody knows whether the operator contradicts the recorded outcome.
    log.error({ kind, id, merchantId }, 'the operator gives no status of a final payment: its rechecks end');
  }
}

/** Claims and begins as many queries as the permits allow; returns how many. */
async function claimGroup(
  operator: OperatorId,
  group: QueryPermits,
  { queues, clocks }: QueryContext,
  begin: (query: ClaimedQuery, permit: CallPermit) => void,
): Promise<number> {
  const leaseMs = clocks.operatorTimeoutMs + LEASE_MARGIN_MS;
  const { count: limit, kinds } = group;
  let claimed: ClaimedQuery[] = [];
  try {
    claimed = await claimQueries(queues, operator, { limit, kinds, leaseMs, gapMs: clocks.minimumQueryGapMs });
    for (const query of claimed) begin(query, group.permitOf(query.kind));
    return claimed.length;
  } finally {
    if (claimed.length === 0) await group.end();
  }
}

/**
 * Postpones the queries that are due while their operator is not called; returns how many. A payment that reaches a deadline meanwhile
 * becomes `reconciling`.
 */
async function postpone(operator: OperatorId, { kinds, waitMs }: Held, context: QueryContext): Promise<number> {
  const moved = await postponeQueries(context.queues, operator, { limit: MOST_PER_STATEMENT, kinds, waitMs });
  for (const { id, kind, merchantId, priority } of moved) {
    if (priority !== QUERY_PRIORITY.deadline) continue;
    const ref = { kind, id, merchantId } as PaymentRef;
    try {
      await recordUnasked(ref, await context.kinds.load(ref), context);
    } catch (error) {
      context.log.warn(
        { error, id, kind, merchantId },
        'what a deadline of a payment means could not be recorded; it is tried again',
      );
    }
  }
  return moved.length;
}

type PermittedQuery = ClaimedQuery & { readonly operator: OperatorId; readonly permit: CallPermit };

/** Never rejects: a payment that cannot be queried holds up no other. */
async function queryOne(query: PermittedQuery, window: QueryWindow, context: QueryContext): Promise<QueryResult> {
  const { clocks, log } = context;
  const { kind, id, merchantId, operator, claimedAt, permit } = query;
  const claimedMs = performance.now();
  // Queries are due by the clock of the database, so the clock of this process does not count.
  const now = () => new Date(claimedAt.getTime() + performance.now() - claimedMs);
  try {
    const asked = await queryAndRecord({ kind, id, merchantId, operator, permit } as PermittedRef, window, context);
    return await resultOf(query, asked, now(), context);
  } catch (error) {
    log.error({ error, kind, id, merchantId }, 'a payment could not be queried by schedule');
    const dueAt = new Date(now().getTime() + clocks.staleAfterMs);
    return { query, next: { dueAt, priority: null }, isGivenUp: false };
  } finally {
    await permit.end();
  }
}

type PermittedRef = PaymentAtOperator & { readonly permit: CallPermit };

/** A payment before its query, and the finding of the query. */
type Asked = { readonly payment: LoadedPayment; readonly finding: RecheckFinding };

async function queryAndRecord(
  { permit, operator, ...ref }: PermittedRef,
  window: QueryWindow,
  context: QueryContext,
): Promise<Asked> {
  const { kinds, recorder, clocks } = context;
  const findings = await context.messages.read(ref, operator);
  const payment = findings?.payment ?? (await kinds.load(ref));
  if (findings !== null && !findings.isAsked) return { payment, finding: findingOf(ref.kind, findings, context) };
  const { queried, exchange } = await queryOperator(ref, { payment, permit, findings }, context);
  if (exchange !== null) window.answered(queried.status.kind !== 'unknown');
  if (decides(ref.kind, payment.snapshot, queried, context)) {
    const { state } = await recorder.recordStatus(ref, payment, queried, exchange);
    // The message with the receipt may have arrived before.
    if (findings !== null && state === 'succeeded') await context.messages.read(ref, operator);
  }
  return { payment, finding: findingIn(ref.kind, payment.snapshot, queried, paymentClocks(clocks)) };
}

/** The finding of the messages about a final payment. */
function findingOf(kind: PaymentKind, { payment, queried }: MessageFindings, { clocks }: QueryContext): RecheckFinding {
  return queried === null ? 'nothing_new' : findingIn(kind, payment.snapshot as never, queried, paymentClocks(clocks));
}

/** Whether the answer needs a record. If not, only the time and the count in the row change. */
function decides<Kind extends PaymentKind>(
  kind: Kind,
  snapshot: PaymentSnapshot<Kind>,
  queried: QueriedStatus,
  context: QueryContext,
): boolean {
  const clocks = paymentClocks(context.clocks);
  const lifecycle = LIFECYCLES[kind];
  const finding = findingIn(kind, snapshot, queried, clocks);
  if (finding === 'transition' || finding === 'contradiction') return true;
  return (
    lifecycle.isAcceptanceUnrecorded(snapshot, queried.status) ||
    lifecycle.notFoundStep(snapshot, queried, clocks) !== null
  );
}

/** When the payment is queried next. If the payment changed meanwhile, the change has set the next query already. */
async function resultOf(
  query: ClaimedQuery,
  { payment: { row }, finding }: Asked,
  at: Date,
  { db, clocks }: QueryContext,
): Promise<QueryResult> {
  if (!isFinal(row.state)) return { query, next: nextQueryDue(row, query.queries, at, clocks), isGivenUp: false };
  const rechecked = await findRechecked(db, query.id);
  if (rechecked === null) throw new Error(`${query.id} is gone`);
  const { dueAt, isGivenUp } = nextRecheck(rechecked, finding, at, clocks);
  return { query, next: dueAt && { dueAt, priority: QUERY_PRIORITY.final }, isGivenUp };
}
