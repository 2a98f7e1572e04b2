// Rows of the audit log: who did what, from where, and who was refused what. Never changed, never removed.
import type { ApiKeyId, MerchantId, UserId } from '../domain/ids.ts';
import { statement, type Queryable } from './database.ts';

export type AuditEntry = {
  readonly merchantId: MerchantId | null;
  readonly userId: UserId | null;
  readonly apiKeyId: ApiKeyId | null;
  /** Noun and past verb: `payout.released`. */
  readonly action: string;
  readonly outcome: 'done' | 'refused';
  readonly subjectId: string | null;
  /** JSON objects without secrets. */
  readonly before: object | null;
  readonly after: object | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly at: Date;
};

const INSERT = statement(
  'audit_entry_insert',
  `INSERT INTO audit_entries (merchant_id, user_id, api_key_id, action, outcome, subject_id, before, after, address,
                              request_id, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

export async function insertAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  await db.run(INSERT, [
    entry.merchantId,
    entry.userId,
    entry.apiKeyId,
    entry.action,
    entry.outcome,
    entry.subjectId,
    entry.before === null ? null : JSON.stringify(entry.before),
    entry.after === null ? null : JSON.stringify(entry.after),
    entry.address,
    entry.requestId,
    entry.at,
  ]);
}
