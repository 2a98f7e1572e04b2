// How long stored data are kept: each table from which housekeeping removes old rows, with its duration.
import type { ClockName, Clocks } from './clocks.ts';

/**
 * Counted from the first use of a key, the arrival of a callback, or the beginning of an exchange or query; for the
 * others, from their end. The first sweep after their end also removes challenges of passkeys and replaced secrets of
 * endpoints.
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

/** For each table, the moment before which older or ended rows are removed. */
export type RetainedSince = Readonly<Record<RetainedTable, Date>>;

export function retainedSince(clocks: Pick<Clocks, (typeof RETENTION)[RetainedTable]>, at: Date): RetainedSince {
  const entries = RETAINED_TABLES.map((table) => [table, new Date(at.getTime() - clocks[RETENTION[table]])]);
  return Object.fromEntries(entries) as RetainedSince;
}
