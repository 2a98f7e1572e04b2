// The connection pool, statements and transactions: the only door to PostgreSQL.
import { DatabaseError, Pool, type PoolClient, type QueryResultRow } from 'pg';

/** A prepared statement: planned once per connection under its name. Write one per exported function. */
export type Statement = { readonly name: string; readonly text: string };

/** What a read can run on: a pool connection or a transaction. */
export type Queryable = {
  run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
};

declare const inTransaction: unique symbol;
/** A transaction under way. Functions that must be atomic with others ask for this type. */
export type Tx = Queryable & { readonly [inTransaction]: true };

export type Database = Queryable & {
  /**
   * Runs `work` in one transaction: committed when it returns, rolled back when it throws. A deadlock or a serialization
   * failure runs it again from the start, so `work` touches nothing but the transaction.
   */
  withTransaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  readonly pool: Pool;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  readonly url: string;
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly onIdleError: (error: Error) => void;
};

const MAX_TRIES = 4;
const SILENCE_MARGIN_MS = 1000;
const RETRYABLE = new Set(['40001', '40P01']);

export function statement(name: string, text: string): Statement {
  return { name, text };
}

export function openDatabase(options: DatabaseOptions): Database {
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    // A server that went silent cannot time out its own statement.
    query_timeout: options.statementTimeoutMs + SILENCE_MARGIN_MS,
    idle_in_transaction_session_timeout: options.statementTimeoutMs,
    application_name: 'malipo',
  });
  // Without a listener, a connection that breaks while idle would end the process.
  pool.on('error', options.onIdleError);
  return {
    pool,
    run: (query, values) => runOn(pool, query, values),
    withTransaction: (work) => withTransaction(pool, work),
    close: () => pool.end(),
  };
}

async function runOn<Row extends QueryResultRow>(
  connection: Pool | PoolClient,
  query: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const result = await connection.query<Row>({ name: query.name, text: query.text, values: [...values] });
  return result.rows;
}

async function withTransaction<Result>(pool: Pool, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryTransaction(pool, work);
    } catch (error) {
      const isRetryable = error instanceof DatabaseError && RETRYABLE.has(error.code ?? '');
      if (!isRetryable || attempt === MAX_TRIES) throw error;
    }
  }
}

async function tryTransaction<Result>(pool: Pool, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that breaks between two statements says so by an event, which would end the process if nobody listened.
  const onLost = (error: Error) => {
    broken = error;
  };
  client.on('error', onLost);
  try {
    await client.query('BEGIN');
    const tx = { run: (query: Statement, values: readonly unknown[]) => runOn(client, query, values) } as Tx;
    const result = await work(tx);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    broken ??= isSilent(error) ? error : await rollBack(client);
    throw error;
  } finally {
    // A connection whose state is unknown is not given back.
    client.release(broken);
    client.off('error', onLost);
  }
}

// Asking such a server for a rollback would only wait for it once more.
function isSilent(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}

async function rollBack(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
