// Rows of later generations of payouts, which the operator refused for our float.
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import type { SendGeneration } from '../../domain/payments/payment-fields.ts';
import type { RecordedBy } from '../../domain/work.ts';
import { insertion } from '../platform/columns.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';

const insert = insertion(
  'send_generation_insert',
  'send_generations',
  'payment_id, generation, operator_reference, failure_code, recorded_at, send_after, attestation',
);

// From now on nobody has begun to send the payout, so nobody asks about it until somebody does.
const BEGIN = statement('payout_begin_generation')`
  WITH moved AS (
    UPDATE payments SET send_generation = $2, send_begun_at = NULL, send_repeated_at = NULL, accepted_at = NULL,
      operator_issued_id = NULL
    WHERE id = $1 RETURNING id),
  query_work AS (DELETE FROM work USING moved WHERE work.id = moved.id AND work.task = 'status_query')
  UPDATE work w SET is_started = w.is_started AND NOT $4, due_at = CASE WHEN $4 THEN $3 ELSE w.due_at END
  FROM moved WHERE w.id = moved.id AND w.task = 'workflow'`;

/** Records the next generation of a payout that the caller has locked. If another party records it, the workflow is signalled. */
export async function insertGeneration(
  tx: Tx,
  { id }: Payout,
  next: SendGeneration,
  recordedBy: RecordedBy,
): Promise<void> {
  await insert(tx, { ...next, paymentId: id, generation: next.number });
  await tx.run(BEGIN, [id, next.number, next.recordedAt, recordedBy === 'other']);
}

const millisecondsOf = (column: string): string => `round(extract(epoch FROM g.${column}) * 1000)`;

/** A column for a SELECT from `payments`: the current generation of the row, null if it is the first one. */
export const GENERATION_COLUMN = `(SELECT json_build_object('number', g.generation, 'operatorReference', g.operator_reference,
      'failureCode', g.failure_code, 'recordedAtMs', ${millisecondsOf('recorded_at')}, 'sendAfterMs', ${millisecondsOf('send_after')},
      'attestation', g.attestation)
    FROM send_generations g
    WHERE payments.send_generation > 1 AND g.payment_id = payments.id AND g.generation = payments.send_generation) AS generation`;

/** The value of `GENERATION_COLUMN`. */
export type GenerationInRow =
  | (Omit<SendGeneration, 'recordedAt' | 'sendAfter'> & { readonly recordedAtMs: number; readonly sendAfterMs: number })
  | null;

export function toGeneration(inRow: GenerationInRow): SendGeneration | null {
  if (inRow === null) return null;
  const { recordedAtMs, sendAfterMs, ...generation } = inRow;
  return { ...generation, recordedAt: new Date(recordedAtMs), sendAfter: new Date(sendAfterMs) };
}

const LIST_WAITING = statement('send_generation_list_waiting')`
  SELECT p.operator, count(*)::int AS count, min(p.updated_at) AS since FROM payments p
  WHERE p.kind = 'payout' AND p.state = 'released' AND p.send_generation > 1 AND p.send_begun_at IS NULL
  GROUP BY p.operator ORDER BY p.operator`;

export type WaitingForFloat = { readonly operator: OperatorId; readonly count: number; readonly since: Date };

/** For each operator how many payouts wait for our float, and when the first of them was released. Reads all that are released. */
export async function listWaitingForFloat(db: Queryable): Promise<WaitingForFloat[]> {
  return db.run<WaitingForFloat>(LIST_WAITING, []);
}

const LIST = statement('send_generation_list')`
  SELECT generation AS number, operator_reference, failure_code, recorded_at, send_after, attestation FROM send_generations
  WHERE payment_id = $1 ORDER BY generation DESC LIMIT $2`;

/** The newest later generations of the payout, at most `limit`. */
export async function listGenerations(
  db: Queryable,
  { id }: Pick<Payout, 'id'>,
  limit: number,
): Promise<SendGeneration[]> {
  return db.run<SendGeneration>(LIST, [id, limit]);
}
