// Gathers the requests of API keys and records them in batches after their responses, so that none waits for the log.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import type { Database } from '../db/platform/database.ts';
import type { ApiRequest } from '../domain/accounts/api-request.ts';
import type { Log } from '../log.ts';
import { recordApiRequests } from '../operations/accounts/record-api-requests.ts';

export type RequestLog = {
  /** Never waits or throws. Recorded within two seconds. Left out if too many are gathered, or recording fails. */
  note(request: ApiRequest): void;
  /** How many requests were left out since the process began. */
  lost(): number;
  close(): Promise<void>;
};

export type RequestLogOptions = {
  readonly db: Database;
  readonly log: Log;
  readonly flushEveryMs?: number;
  readonly maxWaiting?: number;
};

// PostgreSQL needs 36 µs for a row: a batch is small enough that no concurrent request waits long.
const BATCH_SIZE = 100;

export function createRequestLog({ db, log, flushEveryMs = 1000, maxWaiting = 5000 }: RequestLogOptions): RequestLog {
  const waiting: ApiRequest[] = [];
  let lost = 0;
  let isClosing = false;

  async function recordWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_SIZE);
      try {
        await recordApiRequests(db, batch);
      } catch (error) {
        // Tried once: the requests behind a failing batch are worth more. A stopping process waits at most once for an
        // unavailable database.
        const rest = isClosing ? waiting.splice(0) : [];
        const count = batch.length + rest.length;
        lost += count;
        log.warn({ error, count }, 'requests were left out of the request log');
      }
    }
  }

  const flushes = createCoalescingLoop({
    pass: recordWaiting,
    onError(error) {
      log.error({ error }, 'the request log failed');
    },
  });
  const timer = setInterval(flushes.wake, flushEveryMs);
  timer.unref();
  return {
    note(request) {
      if (waiting.length >= maxWaiting) lost += 1;
      else waiting.push(request);
      if (waiting.length >= BATCH_SIZE) flushes.wake();
    },
    lost: () => lost,
    async close() {
      clearInterval(timer);
      isClosing = true;
      await flushes.run();
    },
  };
}
