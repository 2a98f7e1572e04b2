// Watches whether the database is one that this version can work on, and runs the roles only while it is.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import type { Queryable } from '../db/platform/database.ts';
import { findSchemaFault, readSchemaFiles } from '../db/platform/schema-files.ts';
import type { Log } from '../log.ts';
import { ConfigError } from '../settings/config.ts';

/** So long servers may work on after a migration that they do not know. */
const LOOK_EVERY_MS = 2000;

export type SchemaWatch = {
  /** Why nothing may work on the database; null if it fits. The last known value while the database is unavailable. */
  fault(): string | null;
  /** Resolves once it fits. Rejects when what is checked then refuses the database. */
  readonly fits: Promise<void>;
  /** Called at each change between the two. */
  onChange(listener: () => void): void;
  stop(): Promise<void>;
};

export type SchemaWatchOptions = {
  readonly db: Queryable;
  /** Must pass before the schema counts as fitting for the first time. A ConfigError refuses the database. */
  readonly check: () => Promise<void>;
  readonly log: Log;
};

/** Looks at once, and then again and again until it is stopped. */
export function watchSchema({ db, check, log }: SchemaWatchOptions): SchemaWatch {
  const files = readSchemaFiles();
  const listeners: (() => void)[] = [];
  let [accept, refuse]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
  const fits = new Promise<void>((resolve, reject) => {
    [accept, refuse] = [resolve, reject];
  });
  // The start of the server awaits it later.
  fits.catch(() => undefined);
  let fault: string | null = 'the schema of the database is not known yet';
  let [isChecked, isUnread] = [false, false];

  async function look(): Promise<void> {
    const found = await findSchemaFault(db, await files);
    if (found === null && !isChecked) await check();
    isChecked ||= found === null;
    isUnread = false;
    if (found === fault) return;
    const isChange = found === null || fault === null;
    fault = found;
    if (found === null) log.info({}, 'the schema of the database fits this version');
    else log.error({ reason: found }, 'nothing works on the database until its schema fits this version');
    if (isChange) for (const listener of listeners) listener();
    if (found === null) accept();
  }

  const loop = createCoalescingLoop({
    pass: look,
    onError(error) {
      if (error instanceof ConfigError) refuse(error);
      else if (!isUnread) log.warn({ error }, 'the schema of the database could not be read; it is read again');
      isUnread = true;
    },
  });
  loop.wake();
  const timer = setInterval(loop.wake, LOOK_EVERY_MS);
  return {
    fault: () => fault,
    fits,
    onChange: (listener) => void listeners.push(listener),
    async stop() {
      clearInterval(timer);
      await loop.stop();
    },
  };
}

type Role = { stop(): Promise<void> };

/**
 * Runs the roles while the schema fits: stops them when it no longer does, and starts them again when it does. Rejects, and leaves none
 * behind, when one cannot be started.
 */
export async function runWhileFits(
  schema: Pick<SchemaWatch, 'fault' | 'onChange'>,
  roles: readonly (() => Role)[],
  log: Log,
): Promise<Role> {
  let running: readonly Role[] = [];
  let isStopped = false;
  const loop = createCoalescingLoop({
    async pass() {
      const isWanted = schema.fault() === null && !isStopped;
      if (isWanted && running.length === 0) for (const start of roles) running = [...running, start()];
      if (isWanted) return;
      const ended = running;
      running = [];
      await Promise.all(ended.map((role) => role.stop()));
    },
    onError(error) {
      log.fatal({ error }, 'the roles could not be started or stopped');
    },
  });
  const stop = async (): Promise<void> => {
    isStopped = true;
    await loop.run();
  };
  schema.onChange(loop.wake);
  await loop.run().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { stop };
}
