// How long stored data are kept: each table that housekeeping removes rows from by their age, with the duration that says how long.
import type { ClockName, Clocks } from './clocks.ts';

/**
 * From the first use of a key, the arrival of a callback, or the beginning of an exchange or query; of the others, from their end. Beside them go the challenges of passkeys
 * and the replaced secrets of endpoints, with the first sweep after their end: nobody has a use for them.
 */
export const RETENTION = {
  idempotency_keys: 'idempotencyKeysKeptForMs',
  operator_callbacks: 'callbacksKeptForMs',
  operator_exchanges: 'exchangesKeptForMs',
  operator_queries: 'callbacksKeptForMs',
  payee_names: 'payeeNamesKeptForMs',
  api_requests: 'requestsKeptForMs',
  sessions: 'sessionsKeptForMs',
  recoveries: 'recoveriesKeptForMs',
  attempt_counters: 'attemptCountersKeptForMs',
} as const satisfies Readonly<Record<string, ClockName>>;

export type RetainedTable = keyof typeof RETENTION;
export const RETAINED_TABLES = Object.keys(RETENTION) as RetainedTable[];

/** Of each table, the moment before which what is older, or ended, is removed. */
export type RetainedSince = Readonly<Record<RetainedTable, Date>>;

export function retainedSince(clocks: Pick<Clocks, (typeof RETENTION)[RetainedTable]>, at: Date): RetainedSince {
  const entries = RETAINED_TABLES.map((table) => [table, new Date(at.getTime() - clocks[RETENTION[table]])]);
  return Object.fromEntries(entries) as RetainedSince;
}
