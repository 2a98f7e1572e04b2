// The connection pool, statements and transactions: all access to PostgreSQL goes through this file.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, Pool, TypeOverrides, types, type PoolClient } from 'pg';
import { WatchedPool, type PoolWatch } from './watched-pool.ts';
import type { StateChange } from '../../domain/payments/state-change.ts';
import type { RowAttestor } from '../../security/row-attestation.ts';
import { DomainError } from '../../domain/errors.ts';
import { refusedBy } from '../payments/refused-rules.ts';
import { connectionTo, QUEUE_SETTINGS, SESSION_SETTINGS } from './session-settings.ts';

/** PostgreSQL truncates longer names, and two statements with equal truncated names would run as one. */
const LONGEST_NAME = 63;

/** A prepared statement, planned once per connection under its name. Write one per exported function. */
export type Statement = { readonly name: string; readonly text: string };

/** The connection of a read: a pool connection or a transaction. */
export type Queryable = {
  /** The rows: column names in camel case, each `bigint` a BigInt. Values within JSON are unchanged. */
  run<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Attests and verifies the rows that say who may do what (`attested-rows.ts`). */
  readonly attestor: RowAttestor;
  /** Passes on the news once its transaction is committed; never if the transaction is rolled back. */
  announce(news: News): void;
};

/** The news that deliveries were recorded whose first attempt is owed. */
export const DELIVERIES_OWED = 'deliveries owed';
/** The news that a payment came into a state, or that dispatchers have something to send. */
export type News = StateChange | typeof DELIVERIES_OWED;

/** The first row that the statement returns, or null. */
export async function findOne<Row extends object>(
  db: Queryable,
  query: Statement,
  values: readonly unknown[],
): Promise<Row | null> {
  const [row] = await db.run<Row>(query, values);
  return row ?? null;
}

/** The number in the column `count` of the one row that the statement returns. */
export async function readCount(db: Queryable, query: Statement, values: readonly unknown[]): Promise<number> {
  return (await findOne<{ count: number }>(db, query, values))?.count ?? 0;
}

const announced = Symbol('announced');
/** An open transaction with the news to announce after its commit. Functions that must be atomic take this type. */
export type Tx = Queryable & { readonly [announced]: News[] };

const BEGIN_PART = statement('savepoint_begin')`SAVEPOINT part`;
const KEEP_PART = statement('savepoint_keep')`RELEASE SAVEPOINT part`;
const UNDO_PART = statement('savepoint_undo')`ROLLBACK TO SAVEPOINT part`;

/** Runs `work` as a part of the transaction: if it throws, its writes are undone and the transaction continues. */
export async function withSavepoint<Result>(tx: Tx, work: () => Promise<Result>): Promise<Result> {
  await tx.run(BEGIN_PART, []);
  const before = tx[announced].length;
  try {
    const result = await work();
    await tx.run(KEEP_PART, []);
    return result;
  } catch (error) {
    await tx.run(UNDO_PART, []);
    tx[announced].length = before;
    throw error;
  }
}

/** Outside `withTransaction` each statement is a separate transaction, and is retried as one. */
export type Database = Queryable & {
  /**
   * Runs `work` in one transaction: commits when it returns, rolls back when it throws. After a deadlock or a
   * serialization failure `work` runs again from the start, so it must act on the transaction only.
   */
  withTransaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /**
   * Runs `work` in one read-only transaction, whose statements have this timeout instead of the pool's. When the signal
   * aborts, the running statement is cancelled and `work` fails.
   */
  withLongReads<Result>(limits: LongReadLimits, work: (db: Queryable) => Promise<Result>): Promise<Result>;
  readonly pool: Pool;
  close(): Promise<void>;
};

export type LongReadLimits = {
  readonly statementTimeoutMs: number;
  /** All statements read the database as of the first of them. */
  readonly atOneMoment?: boolean;
  /** Whether each statement finds a few rows of large tables by indexes only, whatever statistics PostgreSQL has. */
  readonly byIndex?: boolean;
  readonly signal?: AbortSignal;
};

export type DatabaseOptions = {
  readonly url: string;
  readonly poolSize: number;
  /** How many connections stay open once they were needed; by default none. */
  readonly keptConnections?: number;
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly onIdleError: (error: Error) => void;
  /** Without it no attested row can be read or written. */
  readonly attestor?: RowAttestor;
  /** Whether its statements claim from queues: none of their plans reads a whole table. */
  readonly claimsFromQueues?: boolean;
  /** Called after every wait for a connection. */
  readonly watch?: PoolWatch;
  /** Called with every committed change of a payment's state. It must not throw. */
  readonly onStateChange?: (change: StateChange) => void;
  /** Called after every commit that recorded deliveries whose first attempt is owed. It must not throw. */
  readonly onDeliveriesOwed?: () => void;
};

function lacksKey(): never {
  throw new Error('this connection was opened without the attestation keys');
}
const KEYLESS: RowAttestor = {
  attest: lacksKey,
  isAttested: lacksKey,
  digestsOfSecret: lacksKey,
  report: lacksKey,
};

const MAX_TRIES = 4;
/** Half of the longest pause before the second try; before each further try it doubles. */
const RETRY_PAUSE_MS = 10;
const SILENCE_MARGIN_MS = 1000;
const RETRYABLE = new Set(['40001', '40P01']);

/** The tag of a template with the text: statement('merchant_find')`SELECT …`. */
export function statement(
  name: string,
): (parts: TemplateStringsArray, ...values: readonly (string | number)[]) => Statement {
  if (name.length > LONGEST_NAME) throw new Error(`the name of statement ${name} is too long`);
  return (parts, ...values) => ({ name, text: String.raw({ raw: parts }, ...values) });
}

/** For a text composed at run time: each of its forms is a separate statement. */
export function composedStatement(prefix: string, text: string): Statement {
  return statement(`${prefix}_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`)`${text}`;
}

export function openDatabase(options: DatabaseOptions): Database {
  const settings = {
    ...connectionTo(options.url, options.claimsFromQueues ? QUEUE_SETTINGS : SESSION_SETTINGS),
    max: options.poolSize,
    min: options.keptConnections ?? 0,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    // A silent server cannot time out its own statement.
    query_timeout: options.statementTimeoutMs + SILENCE_MARGIN_MS,
    idle_in_transaction_session_timeout: options.statementTimeoutMs,
    application_name: 'malipo',
  };
  const pool = options.watch ? new WatchedPool(settings, options.watch) : new Pool(settings);
  // Without a listener, a connection that breaks while idle would end the process.
  pool.on('error', options.onIdleError);
  pool.on('connect', watchForLoss);
  const announce = (news: News): void => {
    if (news === DELIVERIES_OWED) options.onDeliveriesOwed?.();
    else options.onStateChange?.(news);
  };
  const connectionParts = { attestor: options.attestor ?? KEYLESS, announce };
  return {
    pool,
    ...connectionParts,
    run: (query, values) => retrying(() => runAlone(pool, query, values)),
    withTransaction: (work) => withTransaction(pool, connectionParts, work),
    withLongReads: (limits, work) => withLongReads(pool, connectionParts, limits, work),
    close: () => pool.end(),
  };
}

const lossOf = new WeakMap<PoolClient, Error>();

// A connection can break in the tick in which the pool hands it over, before its caller runs, and an error event
// without a listener ends the process. So each connection has a listener from its creation to its end.
function watchForLoss(client: PoolClient): void {
  client.on('error', (error) => {
    lossOf.set(client, error);
  });
}

// The driver itself returns a bigint as text. Queries on the pool itself still do.
const TYPES = new TypeOverrides();
TYPES.setTypeParser(types.builtins.INT8, BigInt);

/**
 * Rejects only after the server has ended the statement's transaction. The server reports an error earlier and keeps
 * the locks until then: a caller who continued on another connection would take them for those of another request.
 */
function runAlone<Row extends object>(pool: Pool, query: Statement, values: readonly unknown[]): Promise<Row[]> {
  return withConnection(pool, 'SELECT 1', (client) => runOn<Row>(client, query, values));
}

async function runOn<Row extends object>(
  connection: PoolClient,
  query: Statement,
  values: readonly unknown[],
  limits: { query_timeout?: number } = {},
): Promise<Row[]> {
  const { name, text } = query;
  const config = { name, text, values: [...values], rowMode: 'array' as const, types: TYPES, ...limits };
  const { fields, rows } = await connection.query<unknown[]>(config).catch((error: unknown) => {
    throw refusedBy(error) ?? error;
  });
  const keys = fields.map((field) => keyOf(field.name));
  return rows.map((row) => toObject(keys, row) as Row);
}

function toObject(keys: readonly string[], row: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  keys.forEach((key, index) => (object[key] = row[index]));
  return object;
}

// A key is created once per column name, not per row. The statements name their columns, so the map stays small.
const keysByColumn = new Map<string, string>();

/** The property for a column: `created_at` is `createdAt`. */
export function keyOf(column: string): string {
  const knownKey = keysByColumn.get(column);
  if (knownKey !== undefined) return knownKey;
  const key = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  keysByColumn.set(column, key);
  return key;
}

async function withTransaction<Result>(
  pool: Pool,
  { attestor, announce }: Pick<Queryable, 'attestor' | 'announce'>,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return retrying(async () => {
    const news: News[] = [];
    const result = await tryTransaction(pool, async (client) => {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
      return work({
        attestor,
        announce: (each) => void news.push(each),
        [announced]: news,
        run: (query, values) => runOn(client, query, values),
      });
    });
    new Set(news).forEach(announce);
    return result;
  });
}

/** The same transaction, which announces its changes as those of this request. */
export function withRequestId(tx: Tx, requestId: string): Tx {
  return {
    ...tx,
    announce: (news) => {
      tx.announce(news === DELIVERIES_OWED ? news : { ...news, byRequestId: requestId });
    },
  };
}

/** Whether the database refused the statement for a wrong value (class 22) or a broken rule (class 23). */
export function isRefusedValue(error: unknown): boolean {
  return error instanceof DomainError || (error instanceof DatabaseError && /^2[23]/.test(error.code ?? ''));
}

async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isRetryable = error instanceof DatabaseError && RETRYABLE.has(error.code ?? '');
      if (!isRetryable || attempt === MAX_TRIES) throw error;
    }
    // The other transaction takes the rows first: a try at once may take them from it again, and end in the same deadlock.
    await sleep(Math.random() * RETRY_PAUSE_MS * 2 ** attempt);
  }
}

const BY_INDEX =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off';

async function withLongReads<Result>(
  pool: Pool,
  own: Pick<Queryable, 'attestor' | 'announce'>,
  { statementTimeoutMs, atOneMoment = false, byIndex = false, signal }: LongReadLimits,
  work: (db: Queryable) => Promise<Result>,
): Promise<Result> {
  return tryTransaction(pool, async (client) => {
    const level = atOneMoment ? 'REPEATABLE READ' : 'READ COMMITTED';
    await client.query(`BEGIN ISOLATION LEVEL ${level} READ ONLY`);
    const { rows } = await client.query<{ pid: number }>(
      "SELECT pg_backend_pid() AS pid, set_config('statement_timeout', $1, true)",
      [String(statementTimeoutMs)],
    );
    if (byIndex) await client.query(BY_INDEX);
    const cancel = (): void => {
      pool.query('SELECT pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => undefined);
    };
    signal?.addEventListener('abort', cancel);
    try {
      const limits = { query_timeout: statementTimeoutMs + SILENCE_MARGIN_MS };
      return await work({
        ...own,
        run: (query, values) => {
          signal?.throwIfAborted();
          return runOn(client, query, values, limits);
        },
      });
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  });
}

/** `work` begins the transaction. It is committed when `work` returns and rolled back when it throws. */
function tryTransaction<Result>(pool: Pool, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  return withConnection(pool, 'ROLLBACK', async (client) => {
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  });
}

/** If `work` throws, `afterFailure` runs on the connection before the caller continues. */
async function withConnection<Result>(
  pool: Pool,
  afterFailure: string,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    broken = isSilent(error) ? error : await errorOf(client, afterFailure);
    throw error;
  } finally {
    // A connection in an unknown state is not returned to the pool.
    client.release(lossOf.get(client) ?? broken);
  }
}

// A silent server would only delay another statement.
function isSilent(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}

async function errorOf(client: PoolClient, sql: string): Promise<Error | undefined> {
  try {
    await client.query(sql);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
