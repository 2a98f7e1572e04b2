// Steps at which a test ends a server process without a word, as a power cut would: around an activity or a write.
import type { WorkerInterceptors } from '@temporalio/worker';
import { Client } from 'pg';
import { z } from 'zod';

export const crashPointSchema = z.union([
  z.object({
    moment: z.enum(['before', 'after']),
    activity: z.string(),
    /** Of an activity that records a transition: only when it records one of this kind. */
    transition: z.string().optional(),
  }),
  z.object({
    moment: z.enum(['before', 'after']),
    /** Around the moment at which what the statement of this name writes is committed. */
    commitOf: z.string(),
  }),
]);

export type CrashPoint = z.infer<typeof crashPointSchema>;

/** Interceptors that end this process at the crash point, if it is around an activity. */
export function crashingInterceptors(point: CrashPoint | null): WorkerInterceptors {
  if (point === null || !('activity' in point)) return {};
  return {
    activity: [
      (context) => ({
        inbound: {
          async execute(input, next) {
            if (context.info.activityType !== point.activity || !isAbout(input.args[0], point.transition))
              return next(input);
            if (point.moment === 'before') return die();
            await next(input).catch(() => undefined);
            return die();
          },
        },
      }),
    ],
  };
}

/** Ends this process at the crash point, if it is around a commit. */
export function crashAtCommit(point: CrashPoint | null): void {
  if (point === null || !('commitOf' in point)) return;
  const { commitOf } = point;
  const isInTransaction = new WeakSet<Client>();
  const hasWritten = new WeakSet<Client>();
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const query = Client.prototype.query as (...args: unknown[]) => unknown;

  /** A statement outside a transaction is committed by itself, another one with its transaction. */
  function commits(client: Client, asked: unknown): boolean {
    if (asked === 'BEGIN') isInTransaction.add(client);
    if (asked === 'COMMIT' || asked === 'ROLLBACK') {
      isInTransaction.delete(client);
      return hasWritten.delete(client) && asked === 'COMMIT';
    }
    if (!isTheStatement(asked, commitOf)) return false;
    if (isInTransaction.has(client)) hasWritten.add(client);
    return !isInTransaction.has(client);
  }

  Client.prototype.query = function (this: Client, ...args: unknown[]): unknown {
    if (!commits(this, args[0])) return Reflect.apply(query, this, args);
    if (point.moment === 'before') return die();
    // The pool waits by callback, a transaction by promise.
    const callback = args.at(-1);
    if (typeof callback === 'function') return Reflect.apply(query, this, [...args.slice(0, -1), die]);
    return (Reflect.apply(query, this, args) as Promise<unknown>).then(die);
  } as typeof Client.prototype.query;
}

function isTheStatement(asked: unknown, name: string): boolean {
  return typeof asked === 'object' && asked !== null && 'name' in asked && asked.name === name;
}

function isAbout(argument: unknown, transition: string | undefined): boolean {
  if (transition === undefined) return true;
  return JSON.stringify(argument).includes(`"kind":"${transition}"`);
}

/** No exit handler runs, nothing is flushed, and nothing happens afterwards. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
