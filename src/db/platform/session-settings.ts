// The PostgreSQL settings that our statements rely on. Every connection is opened with them.

/**
 * An account may change its own settings, and no right of PostgreSQL prevents that. So a person with the application's
 * address could choose the settings of its next connections, such as snapshots in which a reached limit is not seen.
 * The settings of the connection override those of the account and its database. Each value is as `SHOW` returns it.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  role: 'none',
  // Statements lock first and then read the protected rows: a snapshot from before the lock would be out of date.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // Data that the service reports as recorded are on disk.
  synchronous_commit: 'on',
  search_path: 'public, pg_temp',
  row_security: 'on',
  // The driver reads these forms of values.
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // The meaning of a text in a statement, and in the list that the driver writes.
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // The pool's own timeouts are sent after these, and take precedence.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
};

/**
 * For connections that claim from queues. PostgreSQL's statistics of a queue are soon out of date: it reads a seemingly
 * tiny table as a whole, it reads and sorts an unknown backlog, and a connection keeps such a plan. No statement there
 * should do either: each has an index with its order.
 */
export const QUEUE_SETTINGS: Readonly<Record<string, string>> = {
  ...SESSION_SETTINGS,
  enable_seqscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  // Without another plan, the added cost would make PostgreSQL compile the plan.
  jit: 'off',
  // One plan fits all values and is made once: planning a claim takes longer than executing it.
  plan_cache_mode: 'force_generic_plan',
};

type Connection = { readonly connectionString: string; readonly options: string };

/** The address and the settings, which take precedence over options in the address. */
export function connectionTo(url: string, sessionSettings = SESSION_SETTINGS): Connection {
  const settings = Object.entries(sessionSettings).map(([name, value]) => `-c ${name}=${escape(value)}`);
  const address = new URL(url);
  const addressOptions = address.searchParams.getAll('options').at(-1);
  if (addressOptions === undefined) return { connectionString: url, options: settings.join(' ') };
  // The driver prefers the options in the address.
  address.searchParams.delete('options');
  return { connectionString: address.href, options: [addressOptions, ...settings].join(' ') };
}

function escape(value: string): string {
  return value.replace(/[\\\s]/g, '\\$&');
}
