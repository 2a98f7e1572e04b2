// Who may call an operator now: so many calls a second, shared by all processes, and sends before queries.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../src/db/platform/database.ts';
import type { BreakerStatus } from '../src/db/work/breakers.ts';
import { ensureGrants, takeGrants } from '../src/db/work/call-grants.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { Log } from '../src/log.ts';

/** What a call is for, the most urgent first. */
const USES = ['send', 'callback_query', 'scheduled_query'] as const;
export type CallUse = (typeof USES)[number];

export type CallGrants = {
  /** Resolves to true when the call may be made, and to false when that is not so within `waitMs`, or the database is away. */
  take(operator: OperatorId, use: Exclude<CallUse, 'scheduled_query'>, waitMs: number): Promise<boolean>;
  /** Resolves, at once, to how many of the wanted queries by schedule may be made now; to none while anything else waits. */
  takeForQueries(operator: OperatorId, wanted: number): Promise<number>;
};

export type CallGrantsOptions = {
  readonly db: Database;
  readonly operators: readonly OperatorId[];
  /** By all processes together. */
  readonly perSecond: (operator: OperatorId) => number;
  readonly log: Log;
  /** Told, whenever grants are taken, which breakers of the operator are not closed, as of a time by the monotonic clock or later. */
  readonly onBreakers?: (operator: OperatorId, breakers: readonly BreakerStatus[], asOfMs: number) => void;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
};

/** The parts of a second up to which each use takes grants, so that what is more urgent finds some in every process. */
const CEILINGS: Readonly<Record<CallUse, number>> = { send: 1, callback_query: 0.9, scheduled_query: 0.75 };
/**
 * A process takes ahead, so that a busy one needs one statement for several calls: twice as many as last time where those were used
 * in time, up to this part of a second's, and one otherwise.
 */
const MOST_AHEAD = 0.1;
const TRY_AGAIN_MS = 50;

type Waiting = { readonly use: CallUse; readonly untilMs: number; readonly resolve: (isGranted: boolean) => void };

/** Grants that were taken and are not used end with their second. Nothing rejects: without a grant nothing is called. */
export function createCallGrants(options: CallGrantsOptions): CallGrants {
  const byOperator = new Map(
    options.operators.map((operator) => {
      const perSecond = options.perSecond(operator);
      return [operator, createOperatorGrants(operator, { ...options, perSecond })] as const;
    }),
  );
  return {
    // Whoever runs our activities by hand may name anything.
    take: async (operator, use, waitMs) => (await byOperator.get(operator)?.take(use, waitMs)) ?? false,
    takeForQueries: async (operator, wanted) => (await byOperator.get(operator)?.takeForQueries(wanted)) ?? 0,
  };
}

type OperatorGrants = {
  take(use: CallUse, waitMs: number): Promise<boolean>;
  takeForQueries(wanted: number): Promise<number>;
};

type OperatorOptions = Omit<CallGrantsOptions, 'perSecond'> & { readonly perSecond: number };

function createOperatorGrants(
  operator: OperatorId,
  { db, perSecond, log, onBreakers, nowMs = () => performance.now() }: OperatorOptions,
): OperatorGrants {
  const waiting: Waiting[] = [];
  let [left, endsAtMs, ahead, isRefilling, isRowThere] = [0, -Infinity, 1, false, false];

  async function takeFromRow(use: CallUse, wanted: number): Promise<{ count: number; endsAtMs: number }> {
    const ceiling = Math.max(1, Math.floor(perSecond * CEILINGS[use]));
    const askedAtMs = nowMs();
    try {
      if (!isRowThere) await ensureGrants(db, operator);
      isRowThere = true;
      const { count, endsInMs, breakers } = await takeGrants(db, operator, { wanted, ceiling });
      onBreakers?.(operator, breakers, askedAtMs);
      return { count, endsAtMs: askedAtMs + endsInMs };
    } catch (error) {
      log.warn({ error, operator }, 'no call to the operator could be granted');
      return { count: 0, endsAtMs: -Infinity };
    }
  }

  function useOne(): boolean {
    if (left < 1 || nowMs() >= endsAtMs) return false;
    left -= 1;
    return true;
  }

  // Of equal urgency the first comes first.
  function next(): Waiting | undefined {
    return USES.flatMap((use) => waiting.filter((one) => one.use === use))[0];
  }

  function end(one: Waiting, isGranted: boolean): void {
    waiting.splice(waiting.indexOf(one), 1);
    one.resolve(isGranted);
  }

  async function refill(): Promise<void> {
    for (let first = next(); first !== undefined; first = next()) {
      if (nowMs() >= first.untilMs) end(first, false);
      else if (useOne()) end(first, true);
      else {
        const isUsedUp = nowMs() < endsAtMs;
        ahead = isUsedUp ? Math.min(2 * ahead, Math.ceil(perSecond * MOST_AHEAD)) : 1;
        const taken = await takeFromRow(first.use, Math.max(waiting.length, ahead));
        [left, endsAtMs] = [taken.count, taken.endsAtMs];
        if (left === 0) await sleep(TRY_AGAIN_MS);
      }
    }
  }

  return {
    take(use, waitMs) {
      if (waiting.length === 0 && useOne()) return Promise.resolve(true);
      return new Promise((resolve) => {
        waiting.push({ use, untilMs: nowMs() + waitMs, resolve });
        if (isRefilling) return;
        isRefilling = true;
        void refill().finally(() => {
          isRefilling = false;
        });
      });
    },
    async takeForQueries(wanted) {
      if (waiting.length > 0) return 0;
      return (await takeFromRow('scheduled_query', wanted)).count;
    },
  };
}
