// The accounts with operators as the database has them now: each process reads them again every few seconds.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import { listOperatorAccounts } from '../db/accounts/operator-account.ts';
import type { Queryable } from '../db/platform/database.ts';
import { reachOf, type OperatorAccount } from '../domain/payments/operator-account.ts';
import {
  coverageOf,
  withAmountChanges,
  type Coverage,
  type OperatorId,
} from '../domain/payments/operator-catalogue.ts';
import type { Log } from '../log.ts';
import type { Config } from '../settings/config.ts';

/** How soon an account that was added, rotated or closed acts in every process. */
const READ_EVERY_MS = 5000;

export type OperatorAccountWatch = {
  /** As last read; while the database is unavailable, as before. Undefined: there is none that the service wrote. */
  find(operator: OperatorId): OperatorAccount | undefined;
  /** The operators with an account, closed ones too. */
  operators(): OperatorId[];
  /** What payments are accepted for. */
  coverage(): Coverage;
  /** Resolves once they were read: before that an operator with an account would be none. */
  readonly known: Promise<void>;
  /** Why no payment can be judged yet; null once the accounts were read. */
  fault(): string | null;
  /** Reads them at once, and then again and again. Call it once the environment of the database is known. */
  start(): void;
  /** Reads them now, if it was started. */
  wake(): void;
  /** Called after each read. */
  onRead(listener: () => void): void;
  stop(): Promise<void>;
};

type WatchOptions = { readonly db: Queryable; readonly settings: Config['settings']; readonly log: Log };

export function watchOperatorAccounts({ db, settings, log }: WatchOptions): OperatorAccountWatch {
  const listeners: (() => void)[] = [];
  let noteKnown: () => void = () => undefined;
  const known = new Promise<void>((resolve) => {
    noteKnown = resolve;
  });
  const coverageWith = (accounts: readonly OperatorAccount[]) =>
    withAmountChanges(
      coverageOf(reachOf(accounts), settings.MALIPO_OPERATOR_PREFIXES),
      settings.MALIPO_OPERATOR_AMOUNTS,
    );
  let accounts: readonly OperatorAccount[] | null = null;
  let coverage = coverageWith([]);
  let isUnread = false;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<void> {
    const found = await listOperatorAccounts(db);
    note(found);
    accounts = found;
    isUnread = false;
    noteKnown();
    coverage = coverageWith(found);
    for (const listener of listeners) listener();
  }

  function note(found: readonly OperatorAccount[]): void {
    for (const { id, operator, state, proposalId } of found) {
      if (accounts?.some((before) => before.proposalId === proposalId) === true) continue;
      log.info({ id, operator, status: state }, 'an account with an operator is used as the staff agreed');
    }
  }

  const loop = createCoalescingLoop({
    pass: read,
    onError(error) {
      if (!isUnread) log.warn({ error }, 'the accounts with operators could not be read; they are read again');
      isUnread = true;
    },
  });
  return {
    find: (operator) => accounts?.find((account) => account.operator === operator),
    operators: () => (accounts ?? []).map(({ operator }) => operator),
    coverage: () => coverage,
    known,
    fault: () => (accounts === null ? 'the accounts with operators are not known yet' : null),
    start() {
      timer ??= setInterval(loop.wake, READ_EVERY_MS);
      loop.wake();
    },
    wake() {
      if (timer !== undefined) loop.wake();
    },
    onRead: (listener) => void listeners.push(listener),
    async stop() {
      clearInterval(timer);
      await loop.stop();
    },
  };
}
