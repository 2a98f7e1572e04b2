// The settings of PostgreSQL that our statements rely on, which every connection of ours is opened with.

/**
 * An account may change its own settings, and no right of PostgreSQL's keeps it from that, so whoever has the address of the
 * application could choose the settings of its next connections: snapshots in which a limit is not seen to be reached. What a
 * connection is opened with comes before the settings of its account and its database. Each value is as `SHOW` returns it.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  role: 'none',
  // Locks are taken, and then what they protect is read: a snapshot from before the lock would show what was.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // What the service said is recorded is on disk.
  synchronous_commit: 'on',
  search_path: 'public, pg_temp',
  row_security: 'on',
  // The driver reads these forms of values.
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // What a text means in a statement, and in the list that the driver writes.
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // The pool's own time-outs are sent after these, and apply.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
};

/**
 * Of connections that claim from queues. What PostgreSQL knows of a queue is soon out of date: a table that it believes to be tiny it
 * reads as a whole, a backlog that it does not know of it reads and sorts, and a connection keeps such a plan. No statement there
 * should do either: each has an index with its order.
 */
export const QUEUE_SETTINGS: Readonly<Record<string, string>> = {
  ...SESSION_SETTINGS,
  enable_seqscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  // Where there is no other way, the cost that PostgreSQL then adds would have it compile the plan.
  jit: 'off',
  // There is one plan for any values, so it is made once: to plan a claim takes longer than to make it.
  plan_cache_mode: 'force_generic_plan',
};

type Connection = { readonly connectionString: string; readonly options: string };

/** Where to connect and with which settings, which come before options that the address carries. */
export function connectionTo(url: string, sessionSettings = SESSION_SETTINGS): Connection {
  const settings = Object.entries(sessionSettings).map(([name, value]) => `-c ${name}=${escape(value)}`);
  const address = new URL(url);
  const own = address.searchParams.getAll('options').at(-1);
  if (own === undefined) return { connectionString: url, options: settings.join(' ') };
  // The driver prefers what the address says.
  address.searchParams.delete('options');
  return { connectionString: address.href, options: [own, ...settings].join(' ') };
}

function escape(value: string): string {
  return value.replace(/[\\\s]/g, '\\$&');
}
