// Rows of the audit log: who did what, from where, and who was refused what. Never changed, never removed.
import type { ListedAuditEntry } from '../../domain/accounts/audit.ts';
import type { ApiKeyId, MerchantId, UserId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { isService, type Decider } from '../../domain/accounts/member-change.ts';
import { statement, type Queryable, type Tx } from '../database.ts';

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

/** What a person did, as far as the caller of the operation does not say it. */
export type Act = {
  readonly action: string;
  readonly subjectId: string | null;
  readonly before?: object | null;
  readonly after?: object | null;
  readonly at: Date;
};

/** Records what a person did, in the transaction that does it. */
export async function recordAct(tx: Tx, by: ActedBy, act: Act): Promise<void> {
  await insertAuditEntry(tx, {
    merchantId: by.person.merchantId,
    userId: by.person.userId,
    apiKeyId: null,
    action: act.action,
    outcome: 'done',
    subjectId: act.subjectId,
    before: act.before ?? null,
    after: act.after ?? null,
    address: by.address,
    requestId: by.requestId,
    at: act.at,
  });
}

/** Records what whoever runs the service did, for a merchant or, null, for nobody's in particular. */
export async function recordServiceAct(tx: Tx, merchantId: MerchantId | null, act: Act): Promise<void> {
  await insertAuditEntry(tx, {
    merchantId,
    userId: null,
    apiKeyId: null,
    action: act.action,
    outcome: 'done',
    subjectId: act.subjectId,
    before: act.before ?? null,
    after: act.after ?? null,
    address: null,
    requestId: null,
    at: act.at,
  });
}

/** Records what a person or the service decided. */
export function recordDecision(tx: Tx, decider: Decider, act: Act): Promise<void> {
  return isService(decider) ? recordServiceAct(tx, decider.serviceFor, act) : recordAct(tx, decider, act);
}

/** What a person was refused: named by method and route, as nothing was done that would have a name. */
export type Refusal = Pick<Act, 'action' | 'subjectId' | 'at'> & { readonly reason: string };

export async function recordRefusal(db: Queryable, by: ActedBy, { reason, ...refusal }: Refusal): Promise<void> {
  await insertAuditEntry(db, {
    ...refusal,
    merchantId: by.person.merchantId,
    userId: by.person.userId,
    apiKeyId: null,
    outcome: 'refused',
    before: null,
    after: { reason },
    address: by.address,
    requestId: by.requestId,
  });
}

type ListedRow = {
  id: string;
  user_id: UserId | null;
  user_name: string | null;
  api_key_id: ApiKeyId | null;
  api_key_name: string | null;
  action: string;
  outcome: 'done' | 'refused';
  subject_id: string | null;
  before: object | null;
  after: object | null;
  address: string | null;
  request_id: string | null;
  created_at: Date;
};

const LIST = statement(
  'audit_entry_list',
  `SELECT a.id, a.user_id, u.name AS user_name, a.api_key_id, k.name AS api_key_name, a.action, a.outcome, a.subject_id,
          a.before, a.after, host(a.address) AS address, a.request_id, a.created_at
   FROM audit_entries a LEFT JOIN users u ON u.id = a.user_id LEFT JOIN api_keys k ON k.id = a.api_key_id
   WHERE a.merchant_id = $1 AND a.id < coalesce($2, 9223372036854775807)
   ORDER BY a.id DESC LIMIT $3`,
);

/** The newest entries, at most `limit`; only older ones than `before`. */
export async function listAuditEntries(
  db: Queryable,
  merchantId: MerchantId,
  before: string | null,
  limit: number,
): Promise<ListedAuditEntry[]> {
  const rows = await db.run<ListedRow>(LIST, [merchantId, before, limit]);
  return rows.map((row) => ({
    id: row.id,
    user: row.user_id === null ? null : { id: row.user_id, name: row.user_name ?? '' },
    apiKey: row.api_key_id === null ? null : { id: row.api_key_id, name: row.api_key_name ?? '' },
    action: row.action,
    outcome: row.outcome,
    subjectId: row.subject_id,
    before: row.before,
    after: row.after,
    address: row.address,
    requestId: row.request_id,
    at: row.created_at,
  }));
}
