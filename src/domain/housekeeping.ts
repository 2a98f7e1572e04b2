// Housekeeping: what the service does by itself, at intervals, and must be seen to do.

/**
 * `dispatch`: recorded work is started, checked and delivered. `status_queries`: operators are asked when that is due. `purge`:
 * expired records are removed. `recent_payments`: the payments of the last hours are checked against the ledger. `ledger_check`:
 * what changed in the ledger since the check before is. `whole_ledger_check`: the whole ledger is.
 */
export const HOUSEKEEPING_TASKS = [
  'dispatch',
  'status_queries',
  'purge',
  'recent_payments',
  'ledger_check',
  'whole_ledger_check',
] as const;

/**
 * `changed_payments`: payments that changed before this time agree with their transfers. It is how far `ledger_check` came without a
 * fault, and goes on from, so it is no task of its own that is late.
 */
export type HousekeepingTask = (typeof HOUSEKEEPING_TASKS)[number] | 'changed_payments';

export type Housekeeping = {
  readonly task: HousekeepingTask;
  /** What there was to do at this time is done. */
  readonly doneAsOf: Date;
  /** Of a check, how many faults it found. */
  readonly faults: number;
};
