// Housekeeping: the recurring work of the service, whose progress must be visible.

/**
 * `dispatch`: recorded work is started, checked and delivered. `status_queries`: due status queries are made. `purge`:
 * expired records are removed. `recent_payments`: the payments of the last hours agree with the ledger. `ledger_check`:
 * so do the changes in the ledger since the previous check. `whole_ledger_check`: so does the whole ledger.
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
 * `changed_payments`: payments that changed before this time agree with their transfers. It records how far
 * `ledger_check` came without a fault and where it continues, so it is not a separate task that can be late.
 */
export type HousekeepingTask = (typeof HOUSEKEEPING_TASKS)[number] | 'changed_payments';

export type Housekeeping = {
  readonly task: HousekeepingTask;
  /** Everything due at this time is done. */
  readonly doneAsOf: Date;
  /** The number of faults that a check found. */
  readonly faults: number;
};
