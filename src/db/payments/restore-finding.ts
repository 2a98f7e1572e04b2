// Rows of what operators said in recovery, and the payments about which they are not asked yet.
import {
  questionCount,
  type DoubtfulPayment,
  type Finding,
  type Question,
} from '../../domain/payments/restore-finding.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { PaymentId } from '../../domain/payments/payment.ts';
import { readCount, statement, type Queryable } from '../platform/database.ts';

const OF_RESTORE =
  'SELECT FROM restore_findings f WHERE f.payment_id = p.id AND f.restore_id = $1 AND f.generation >= p.send_generation';
const IS_DOUBTFUL = `p.kind <> 'collection' AND p.state IN ('queued', 'released')
  AND (SELECT count(*) FROM (${OF_RESTORE}) AS asked)
    < CASE p.kind WHEN 'payout' THEN ${questionCount('payout')} ELSE ${questionCount('reversal')} END`;

const LIST = statement('restore_finding_list_doubtful')`
  SELECT p.kind, p.id, p.merchant_id, p.operator, p.operator_reference::text, p.send_generation AS generation,
    c.operator_reference::text AS collection_reference,
    ARRAY(SELECT f.generation FROM restore_findings f WHERE f.payment_id = p.id AND f.restore_id = $1) AS asked
  FROM payments p LEFT JOIN payments c ON c.id = p.collection_id WHERE ${IS_DOUBTFUL} AND p.id > $2 ORDER BY p.id LIMIT $3`;

/** Payouts and refunds that may be sent, or sent again, and that the operator may have otherwise; by id, after this one. */
export function listDoubtful(db: Queryable, restore: string, after: string, limit: number): Promise<DoubtfulPayment[]> {
  return db.run<DoubtfulPayment>(LIST, [restore, after, limit]);
}

const COUNT = statement('restore_finding_count_doubtful')`
  SELECT count(*)::int AS count FROM payments p WHERE ${IS_DOUBTFUL}`;

export function countDoubtful(db: Queryable, restore: string): Promise<number> {
  return readCount(db, COUNT, [restore]);
}

const INSERT = statement('restore_finding_insert')`
  INSERT INTO restore_findings (payment_id, generation, restore_id, operator_reference, said, asked_at)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`;

export type NewFinding = Question & {
  readonly paymentId: PaymentId;
  readonly restoreId: string;
  readonly said: Finding;
  readonly askedAt: Date;
};

/** The first answer stays, whichever process asked. */
export async function insertFinding(db: Queryable, finding: NewFinding): Promise<void> {
  const { paymentId, generation, restoreId, operatorReference, said, askedAt } = finding;
  await db.run(INSERT, [paymentId, generation, restoreId, operatorReference, said, askedAt]);
}

const LIST_FOUND = statement('restore_finding_list_found')`
  SELECT f.payment_id, f.generation, f.operator_reference::text, f.said, p.operator, p.state FROM restore_findings f
  JOIN payments p ON p.id = f.payment_id WHERE f.restore_id = $1 AND f.said <> 'not_found' ORDER BY f.payment_id, f.generation LIMIT $2`;

export type ListedFinding = Question & {
  readonly paymentId: PaymentId;
  readonly said: Finding;
  readonly operator: OperatorId;
  readonly state: string;
};

/** What the operators have, and what they answer no question about. */
export function listFindings(db: Queryable, restore: string, limit: number): Promise<ListedFinding[]> {
  return db.run<ListedFinding>(LIST_FOUND, [restore, limit]);
}
