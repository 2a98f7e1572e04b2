// Creates the payouts of a file, several at a time, as fast as the API accepts them, each under the key of its row.
import { ApiError } from '../api/api-error.ts';
import { answerOf, api, type Schemas } from '../api/client.ts';
import type { CheckedRow } from './check-rows.ts';

export type Outcome =
  | { readonly kind: 'made'; readonly id: string }
  /** Nothing was created. */
  | { readonly kind: 'refused'; readonly message: string; readonly requestId: string | null }
  /** The outcome is unknown: the next check of the file finds it. */
  | { readonly kind: 'unknown'; readonly message: string };

export type Making = {
  readonly onOutcome: (row: CheckedRow, outcome: Outcome) => void;
  /** Called with the moment until which the API asks to wait, and with null when it has passed. */
  readonly onPause: (untilMs: number | null) => void;
  /** Ends it: requests in progress are awaited, and no new one begins. */
  readonly signal: AbortSignal;
};

const AT_ONCE = 4;
const MAX_TRIES = 5;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** These concern the merchant, the person or the balance, so every row: later rows are not tried. */
const STOPPING_STATUSES = new Set([401, 402, 403]);

/** Resolves once every row has an outcome or the rest was given up; the error is the reason, if any. */
export async function makeRows(rows: readonly CheckedRow[], making: Making): Promise<ApiError | null> {
  const waiting = [...rows];
  const shared = { pausedUntilMs: 0, reason: null as ApiError | null };
  const isOver = () => making.signal.aborted || shared.reason !== null;

  async function work(): Promise<void> {
    for (let row = waiting.shift(); row !== undefined && !isOver(); row = waiting.shift()) await makeOne(row);
  }

  async function makeOne(row: CheckedRow): Promise<void> {
    for (let tries = 1; ;) {
      await pause(shared.pausedUntilMs, making);
      // Rows that were never sent stay without an outcome.
      if (tries === 1 && isOver()) return;
      try {
        making.onOutcome(row, { kind: 'made', id: await send(row) });
        return;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { retryAfterSeconds, isBusy } = readBusy(error);
        if (!isBusy && error.isDecided) {
          making.onOutcome(row, { kind: 'refused', message: error.message, requestId: error.requestId });
          if (stopsAll(error)) shared.reason ??= error;
          return;
        }
        if (making.signal.aborted || (!isBusy && tries >= MAX_TRIES)) {
          making.onOutcome(row, { kind: 'unknown', message: error.message });
          if (!making.signal.aborted) shared.reason ??= error;
          return;
        }
        const waitMs = retryAfterSeconds === null ? FIRST_WAIT_MS * 2 ** (tries - 1) : retryAfterSeconds * 1000;
        // All requests wait until the time that the API gave.
        shared.pausedUntilMs = Math.max(shared.pausedUntilMs, Date.now() + Math.min(waitMs, LONGEST_WAIT_MS));
        making.onPause(shared.pausedUntilMs);
        // An API that gives a time is called as often as it allows.
        if (!isBusy) tries++;
      }
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return shared.reason;
}

function stopsAll({ status, detail }: ApiError): boolean {
  const isConflict = detail.kind === 'refused' && detail.code === 'state_conflict';
  return isConflict || STOPPING_STATUSES.has(status ?? 0);
}

async function send({ payout, key }: CheckedRow): Promise<string> {
  const { phone, amount, reference, operator, ...texts } = payout;
  if (phone === undefined || amount === undefined || reference === undefined || key === null) {
    throw new Error('a row that was not checked was to be made');
  }
  // The check refuses any other name.
  const named = operator !== undefined && { operator: operator as NonNullable<Schemas['CreatePayout']['operator']> };
  const body = { ...texts, phone, amount, reference, ...named };
  const params = { header: { 'Idempotency-Key': key } };
  return (await answerOf(api.POST('/v1/api/payouts', { body, params }))).id;
}

/** Whether the API answered and asks for a retry: too many requests, too much waiting work, or the same key in use. */
function readBusy({ detail }: ApiError): { retryAfterSeconds: number | null; isBusy: boolean } {
  if (detail.kind !== 'refused') return { retryAfterSeconds: null, isBusy: false };
  const { status, code, retryAfterSeconds } = detail;
  const isBusy = status === 429 || code === 'service_unavailable' || code === 'idempotency_key_in_flight';
  return { retryAfterSeconds, isBusy: isBusy && retryAfterSeconds !== null };
}

async function pause(untilMs: number, { signal, onPause }: Making): Promise<void> {
  const leftMs = untilMs - Date.now();
  if (leftMs <= 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, leftMs);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
  onPause(null);
}
