// Rows of the audit log: who did what and was refused what, and from where. They are never changed and never removed.
import type { ListedAuditEntry } from '../../domain/accounts/audit.ts';
import type { Staff } from '../../domain/accounts/staff.ts';
import { isId, type ApiKeyId, type MerchantId, type UserId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { isService, type Decider } from '../../domain/accounts/member-change.ts';
import { composedStatement, statement, type Queryable, type Tx } from '../platform/database.ts';
import { readPage, type ListRange, type Page } from '../platform/page.ts';
import { keyColumn } from './names.ts';

export type AuditEntry = Act & {
  /** Null: the entry concerns no merchant in particular. */
  readonly merchantId: MerchantId | null;
  readonly userId?: UserId | null;
  readonly apiKeyId?: ApiKeyId | null;
  readonly staff?: Staff | null;
  readonly outcome: 'done' | 'refused';
  readonly address?: string | null;
  readonly requestId?: string | null;
};

/** What was done or refused. The fields that are left out are stored as null. */
export type Act = {
  /** Noun and past verb: `payout.released`. */
  readonly action: string;
  readonly subjectId: string | null;
  /** JSON objects without secrets. */
  readonly before?: object | null;
  readonly after?: object | null;
  readonly at: Date;
};

const INSERT = statement('audit_entry_insert')`
  INSERT INTO audit_entries (merchant_id, user_id, api_key_id, action, outcome, subject_id, before, after, address,
                             request_id, created_at, staff)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

export async function insertAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  const { userId = null, apiKeyId = null, before = null, after = null, address = null, requestId = null } = entry;
  await db.run(INSERT, [
    entry.merchantId,
    userId,
    apiKeyId,
    entry.action,
    entry.outcome,
    entry.subjectId,
    before === null ? null : JSON.stringify(before),
    after === null ? null : JSON.stringify(after),
    address,
    requestId,
    entry.at,
    entry.staff ?? null,
  ]);
}

/** Records what a person did, in the transaction that does it. */
export async function recordAct(tx: Tx, by: ActedBy, act: Act): Promise<void> {
  await insertAuditEntry(tx, { ...act, ...actorOf(by), outcome: 'done' });
}

/** Records what the service did by itself for a merchant. */
export async function recordServiceAct(tx: Tx, merchantId: MerchantId, act: Act): Promise<void> {
  await insertAuditEntry(tx, { ...act, merchantId, outcome: 'done' });
}

/** Records what one of the service's staff did, for a merchant or, with null, for none in particular. */
export async function recordStaffAct(tx: Tx, merchantId: MerchantId | null, staff: Staff, act: Act): Promise<void> {
  await insertAuditEntry(tx, { ...act, merchantId, staff, outcome: 'done' });
}

/** Records what a person or the service's staff decided. */
export function recordDecision(tx: Tx, decider: Decider, act: Act): Promise<void> {
  return isService(decider) ? recordStaffAct(tx, decider.serviceFor, decider.staff, act) : recordAct(tx, decider, act);
}

export function actorOf({ person: { merchantId, userId }, address, requestId }: ActedBy) {
  return { merchantId, userId, address, requestId };
}

const SELECT = `SELECT a.id::text, a.user_id, ${keyColumn('k')} AS api_key, a.staff, a.action, a.outcome, a.subject_id,
          a.before, a.after, host(a.address) AS address, a.request_id, a.created_at AS at
   FROM audit_entries a LEFT JOIN api_keys k ON k.id = a.api_key_id`;

type AuditRow = Omit<ListedAuditEntry, 'user'> & { readonly userId: UserId | null };

export type AuditFilter = ListRange<string> & {
  readonly subjectId?: string;
  /** A person or an API key. */
  readonly actorId?: UserId | ApiKeyId;
  readonly action?: string;
  readonly outcome?: 'done' | 'refused';
};

export async function listAuditEntries(
  db: Queryable,
  merchantId: MerchantId,
  { subjectId, actorId, action, outcome, createdFrom, createdTo, before }: AuditFilter,
  limit: number,
): Promise<Page<AuditRow>> {
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value) + 2}`;
  const equal = (column: string, value: unknown) => (value === undefined ? [] : [`a.${column} = ${place(value)}`]);
  const isKey = actorId !== undefined && isId('key', actorId);
  const conditions = [
    'a.merchant_id = $1',
    ...equal('subject_id', subjectId),
    ...equal(isKey ? 'api_key_id' : 'user_id', actorId),
    ...equal('action', action),
    ...equal('outcome', outcome),
    ...(createdFrom === undefined ? [] : [`a.created_at >= ${place(createdFrom)}`]),
    ...(createdTo === undefined ? [] : [`a.created_at < ${place(createdTo)}`]),
    // Of any merchant: an entry's number says nothing but when it was.
    ...(before === undefined
      ? []
      : [`(a.created_at, a.id) < (SELECT b.created_at, b.id FROM audit_entries b WHERE b.id = ${place(before)})`]),
  ];
  const text = `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY a.created_at DESC, a.id DESC LIMIT $2`;
  const query = composedStatement('audit_entry_list', text);
  return readPage(limit, (count) => db.run<AuditRow>(query, [merchantId, count, ...values]));
}
