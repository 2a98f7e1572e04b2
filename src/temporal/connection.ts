// The connection to Temporal: opened as soon as the server responds, shared by client and worker, closed once.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Log } from '../log.ts';
import type { TemporalTarget } from './transport.ts';

export type TemporalConnection = {
  /** Resolves when the server has responded for the first time; rejects only when `close` is called before that. */
  whenConnected(): Promise<NativeConnection>;
  isConnected(): boolean;
  /**
   * Runs a call with a deadline; `away` when the server cannot be reached or does not respond. Throws the server's
   * errors about a workflow: that it is started already, or that it is not found; and `CallRefusedError`.
   */
  call<Result>(work: (client: Client) => Promise<Result>, timeoutMs?: number): Promise<Result | 'away'>;
  close(): Promise<void>;
};

/** The server refuses the content of the call: no repetition helps. */
export class CallRefusedError extends Error {}

export type TemporalConnectionOptions = {
  readonly target: TemporalTarget;
  readonly namespace: string;
  readonly callTimeoutMs: number;
  readonly log: Log;
};

const RECONNECT_EVERY_MS = 1000;
const WARN_EVERY_TRIES = 30;

export function connectTemporal(options: TemporalConnectionOptions): TemporalConnection {
  const { target, namespace, callTimeoutMs, log } = options;
  const { address } = target;
  let client: Client | null = null;
  let isClosing = false;
  const connected = connect();
  // Callers of `whenConnected` handle the rejection; without a caller it must not count as unhandled.
  connected.catch(() => undefined);

  async function connect(): Promise<NativeConnection> {
    for (let attempt = 0; ; attempt++) {
      if (isClosing) throw new Error('closed before Temporal could be reached');
      try {
        const connection = await NativeConnection.connect(target);
        client = new Client({ connection, namespace });
        log.info({ address, namespace }, 'connected to Temporal');
        return connection;
      } catch (error) {
        if (attempt % WARN_EVERY_TRIES === 0)
          log.warn({ error, address }, 'Temporal is unavailable; work is recorded and waits');
      }
      await sleep(RECONNECT_EVERY_MS);
    }
  }

  return {
    whenConnected: () => connected,
    isConnected: () => client !== null,
    async call(work, timeoutMs = callTimeoutMs) {
      const current = client;
      if (current === null) return 'away';
      try {
        const called = current.withDeadline(Date.now() + timeoutMs, () => work(current));
        return await within(timeoutMs, called, `no response within ${timeoutMs} ms`);
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError)
          throw error;
        if (isRefusal(error)) throw new CallRefusedError('Temporal refused a call', { cause: error });
        log.warn({ error }, 'a call to Temporal failed');
        return 'away';
      }
    },
    async close() {
      isClosing = true;
      const connection = await connected.catch(() => null);
      await connection?.close();
    },
  };
}

// google.rpc.Code: INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE. Any other code may be about the server's own state.
const REFUSAL_CODES = new Set<number>([3, 9, 11]);

function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isGrpcServiceError(cause) && REFUSAL_CODES.has(cause.code)) return true;
  }
  return false;
}

// The deadline ends one try; the connection itself retries for up to ten seconds, which is too long for a caller.
export async function within<Result>(timeoutMs: number, work: Promise<Result>, problem: string): Promise<Result> {
  const waited = new AbortController();
  const timedOut = sleep(timeoutMs, undefined, { signal: waited.signal }).then(() => {
    throw new Error(problem);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    waited.abort();
  }
}
