// Grants calls to operators: a number each second, shared by all processes, sends before queries.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../src/db/platform/database.ts';
import type { RecordedBreaker } from '../src/db/work/breakers.ts';
import { ensureGrants, takeGrants } from '../src/db/work/call-grants.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { Log } from '../src/log.ts';

/** The uses of a call, the most urgent first. */
const USES = ['send', 'callback_query', 'scheduled_query'] as const;
export type CallUse = (typeof USES)[number];

export type CallGrants = {
  /** Resolves to true if the call may be made, and to false if no grant is free within `waitMs`, or if the database is unavailable. */
  take(operator: OperatorId, use: Exclude<CallUse, 'scheduled_query'>, waitMs: number): Promise<boolean>;
  /** Resolves at once to how many of the wanted queries by schedule may be made now: none while any other call waits. */
  takeForQueries(operator: OperatorId, wanted: number): Promise<number>;
};

export type CallGrantsOptions = {
  readonly db: Database;
  readonly operators: readonly OperatorId[];
  /** The calls of all processes together, asked whenever grants are taken. */
  readonly perSecond: (operator: OperatorId) => number;
  readonly log: Log;
  /** Receives, whenever grants are taken, the operator's breakers that are not closed, as of `asOfMs` or later by the monotonic clock. */
  readonly onBreakers?: (operator: OperatorId, breakers: readonly RecordedBreaker[], asOfMs: number) => void;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
};

/** The part of a second's grants that each use may take, so that more urgent calls find grants in every process. */
const CEILINGS: Readonly<Record<CallUse, number>> = { send: 1, callback_query: 0.9, scheduled_query: 0.75 };
/**
 * A process takes grants ahead, so that a busy process needs one statement for several calls. It takes twice as many as last time if those
 * were used in time, up to this part of a second's grants, and otherwise one.
 */
const MOST_AHEAD = 0.1;
const TRY_AGAIN_MS = 50;

type Waiting = { readonly use: CallUse; readonly untilMs: number; readonly resolve: (isGranted: boolean) => void };

/** Unused grants end with their second. Never rejects: without a grant nothing is called. */
export function createCallGrants(options: CallGrantsOptions): CallGrants {
  const byOperator = new Map(
    options.operators.map((operator) => [operator, createOperatorGrants(operator, options)] as const),
  );
  return {
    // A person who runs this activity by hand may name anything.
    take: async (operator, use, waitMs) => (await byOperator.get(operator)?.take(use, waitMs)) ?? false,
    takeForQueries: async (operator, wanted) => (await byOperator.get(operator)?.takeForQueries(wanted)) ?? 0,
  };
}

type OperatorGrants = {
  take(use: CallUse, waitMs: number): Promise<boolean>;
  takeForQueries(wanted: number): Promise<number>;
};

function createOperatorGrants(
  operator: OperatorId,
  { db, perSecond, log, onBreakers, nowMs = () => performance.now() }: CallGrantsOptions,
): OperatorGrants {
  const waiting: Waiting[] = [];
  let [left, endsAtMs, ahead, isRefilling, isRowThere] = [0, -Infinity, 1, false, false];

  async function takeFromRow(use: CallUse, wanted: number): Promise<{ count: number; endsAtMs: number }> {
    const ceiling = Math.max(1, Math.floor(perSecond(operator) * CEILINGS[use]));
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

  // Among calls of equal urgency the first to wait comes first.
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
        ahead = isUsedUp ? Math.min(2 * ahead, Math.ceil(perSecond(operator) * MOST_AHEAD)) : 1;
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
