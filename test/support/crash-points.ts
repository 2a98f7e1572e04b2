// Points at which a test kills a server process, as a power cut would: before or after an activity or a commit.
import type { WorkerInterceptors } from '@temporalio/worker';
import { Client } from 'pg';
import { z } from 'zod';

export const crashPointSchema = z.union([
  z.object({
    moment: z.enum(['before', 'after']),
    activity: z.string(),
  }),
  z.object({
    moment: z.enum(['before', 'after']),
    /** Around the commit of what the statement of this name writes. */
    commitOf: z.string(),
    /** Which of its commits in this process, the first by default. */
    nth: z.number().optional(),
  }),
]);

export type CrashPoint = z.infer<typeof crashPointSchema>;

/** Interceptors that kill this process at the crash point, if it is around an activity. */
export function crashingInterceptors(point: CrashPoint | null): WorkerInterceptors {
  if (point === null || !('activity' in point)) return {};
  return {
    activity: [
      (context) => ({
        inbound: {
          async execute(input, next) {
            if (context.info.activityType !== point.activity) return next(input);
            if (point.moment === 'before') return die();
            await next(input).catch(() => undefined);
            return die();
          },
        },
      }),
    ],
  };
}

/** Kills this process at the crash point, if it is around a commit. */
export function crashAtCommit(point: CrashPoint | null): void {
  if (point === null || !('commitOf' in point)) return;
  const { commitOf, nth = 1 } = point;
  let commitsLeft = nth;
  const isInTransaction = new WeakSet<Client>();
  const hasWritten = new WeakSet<Client>();
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const query = Client.prototype.query as (...args: unknown[]) => unknown;

  /** Whether this query commits the statement: by itself outside a transaction, otherwise with its transaction. */
  function commits(client: Client, statement: unknown): boolean {
    if (typeof statement === 'string' && statement.startsWith('BEGIN')) isInTransaction.add(client);
    if (statement === 'COMMIT' || statement === 'ROLLBACK') {
      isInTransaction.delete(client);
      return hasWritten.delete(client) && statement === 'COMMIT';
    }
    if (!isTheStatement(statement, commitOf)) return false;
    if (isInTransaction.has(client)) hasWritten.add(client);
    return !isInTransaction.has(client);
  }

  Client.prototype.query = function (this: Client, ...args: unknown[]): unknown {
    if (!commits(this, args[0]) || --commitsLeft > 0) return Reflect.apply(query, this, args);
    if (point.moment === 'before') return die();
    // The pool passes a callback, a transaction awaits a promise.
    const callback = args.at(-1);
    if (typeof callback === 'function') return Reflect.apply(query, this, [...args.slice(0, -1), die]);
    return (Reflect.apply(query, this, args) as Promise<unknown>).then(die);
  } as typeof Client.prototype.query;
}

function isTheStatement(statement: unknown, name: string): boolean {
  return typeof statement === 'object' && statement !== null && 'name' in statement && statement.name === name;
}

/** No exit handler runs, nothing is flushed, and nothing happens afterwards. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
