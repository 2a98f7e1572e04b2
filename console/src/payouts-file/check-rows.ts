// Lets the API check the rows of a file, and finds their earlier payouts.
import { answerOf, api, type Schemas } from '../api/client.ts';
import { COLUMNS, type Column, type FileRow } from './read-file.ts';

export type CheckedRow = FileRow & {
  readonly operator: string | null;
  /** What an approver will be told about it; null: it has problems. */
  readonly judgement: Schemas['CheckedPayout']['judgement'];
  /** The earlier payout of this row in this payment run. */
  readonly made: Schemas['CheckedPayout']['payout'];
  /** The key of its creation; null: it cannot be created. */
  readonly key: string | null;
};

/** How often a row can be refused for too low a balance before it needs another payment run. */
const KEYS_PER_ROW = 4;
const MAX_ROWS_PER_REQUEST = 100;
/** A request may have 64 KiB. */
const MAX_REQUEST_BYTES = 60_000;

type Request = Schemas['PayoutToCheck'];

/** In the order of the file. Rejects with `ApiError`, without an effect: a check creates nothing. */
export async function checkRows(
  rows: readonly FileRow[],
  paymentRun: string,
  onProgress: (checked: number) => void,
): Promise<readonly CheckedRow[]> {
  const requests = await Promise.all(rows.map((row) => toRequest(row, paymentRun)));
  const checked: CheckedRow[] = [];
  for (const part of inParts(requests)) {
    const { data } = await answerOf(api.POST('/v1/console/payouts/check', { body: { rows: [...part] } }));
    for (const answer of data) {
      const row = rows[checked.length];
      if (row !== undefined) checked.push(toChecked(row, answer));
    }
    onProgress(checked.length);
  }
  return checked;
}

/**
 * The keys follow from the payment run and the content of the row: a row creates one payout, in whatever file, tab or
 * browser it is loaded again.
 */
async function toRequest({ payout }: FileRow, paymentRun: string): Promise<Request> {
  // Without the operator and the payee’s name: a file that adds them later pays nobody again.
  const { phone = '', amount = 0, reference = '', description = '' } = payout;
  const content = new TextEncoder().encode(JSON.stringify([paymentRun, phone, amount, reference, description]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content)).slice(0, 20);
  const name = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return {
    idempotency_keys: Array.from({ length: KEYS_PER_ROW }, (_, index) => `file-${name}-${index + 1}`),
    payout,
  };
}

function* inParts(requests: readonly Request[]): Generator<readonly Request[]> {
  let part: Request[] = [];
  let bytes = 0;
  for (const request of requests) {
    const size = new TextEncoder().encode(JSON.stringify(request)).byteLength + 1;
    if (part.length === MAX_ROWS_PER_REQUEST || bytes + size > MAX_REQUEST_BYTES) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(request);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

function toChecked(row: FileRow, answer: Schemas['CheckedPayout']): CheckedRow {
  const { errors, operator, payout, idempotency_key, judgement } = answer;
  const columnOf = (param: string) => ((COLUMNS as readonly string[]).includes(param) ? (param as Column) : null);
  const named = new Set(row.problems.map(({ column }) => column));
  const found = errors
    .map(({ param, message }) => ({ column: columnOf(param), message }))
    // Unreadable rows were not sent.
    .filter(({ column }) => column === null || !named.has(column));
  // A repeated or unreadable row was not created by being in this file.
  const earlierPayout = row.problems.length > 0 ? null : payout;
  const exhausted =
    earlierPayout === null && idempotency_key === null
      ? [
          {
            column: null,
            message: 'It was refused too often because the balance was too low. Name another payment run below.',
          },
        ]
      : [];
  const problems = [...row.problems, ...found, ...exhausted];
  return { ...row, problems, operator, judgement, made: earlierPayout, key: idempotency_key };
}
