// Rows of the audit log: who did or was refused what, and from which address. They are never changed or removed.
import type { ListedAuditEntry } from '../../domain/accounts/audit.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import { isId, type ApiKeyId, type MerchantId, type UserId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { isService, type Decider } from '../../domain/accounts/member-change.ts';
import { insertion } from '../platform/columns.ts';
import { composedStatement, type Queryable, type Tx } from '../platform/database.ts';
import { conditionsOf, readPage, type ListRange, type Page } from '../platform/page.ts';
import { keyColumn } from './names.ts';

export type AuditEntry = Act & {
  /** Null: the entry concerns no particular merchant. */
  readonly merchantId: MerchantId | null;
  readonly userId?: UserId | null;
  readonly apiKeyId?: ApiKeyId | null;
  readonly staff?: StaffMember | null;
  readonly outcome: 'done' | 'refused';
  readonly address?: string | null;
  readonly requestId?: string | null;
};

/** An act or a refusal. Omitted fields are stored as null. */
export type Act = {
  /** Noun and past verb: `payout.released`. */
  readonly action: string;
  readonly subjectId: string | null;
  /** JSON objects without secrets. */
  readonly before?: object | null;
  readonly after?: object | null;
  readonly at: Date;
};

const insert = insertion(
  'audit_entry_insert',
  'audit_entries',
  `merchant_id, user_id, api_key_id, action, outcome, subject_id, before, after, address, request_id, created_at, staff_id, staff`,
);
const NOBODY = { userId: null, apiKeyId: null, address: null, requestId: null };

export async function insertAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  const { staff = null } = entry;
  const [before, after] = [entry.before, entry.after].map((value) => (value ? JSON.stringify(value) : null));
  const who = { staffId: staff?.id ?? null, staff: staff?.name ?? null };
  await insert(db, { ...NOBODY, ...entry, ...who, before, after, createdAt: entry.at });
}

/** Records what a person did, in the transaction that does it. */
export async function recordAct(tx: Tx, by: ActedBy, act: Act): Promise<void> {
  await insertAuditEntry(tx, { ...act, ...actorOf(by), outcome: 'done' });
}

/** Records an act of the service for a merchant. */
export async function recordServiceAct(tx: Tx, merchantId: MerchantId, act: Act): Promise<void> {
  await insertAuditEntry(tx, { ...act, merchantId, outcome: 'done' });
}

/** Records an act of one of the service's staff, for a merchant or, with null, for none. */
export async function recordStaffAct(
  tx: Tx,
  merchantId: MerchantId | null,
  staff: StaffMember,
  act: Act,
): Promise<void> {
  await insertAuditEntry(tx, { ...act, merchantId, staff, outcome: 'done' });
}

/** Records a decision of a person or of the service's staff. */
export function recordDecision(tx: Tx, decider: Decider, act: Act): Promise<void> {
  return isService(decider) ? recordStaffAct(tx, decider.serviceFor, decider.staff, act) : recordAct(tx, decider, act);
}

export function actorOf({ person: { merchantId, userId }, address, requestId }: ActedBy) {
  return { merchantId, userId, address, requestId };
}

const SELECT = `SELECT a.id::text, a.user_id, ${keyColumn('k')} AS api_key,
          CASE WHEN a.staff_id IS NOT NULL THEN json_build_object('id', a.staff_id, 'name', a.staff) END AS staff, a.action, a.outcome, a.subject_id,
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
  const isKey = actorId !== undefined && isId('key', actorId);
  const { conditions, values } = conditionsOf(3, [
    ['a.subject_id = ?', subjectId],
    [`a.${isKey ? 'api_key_id' : 'user_id'} = ?`, actorId],
    ['a.action = ?', action],
    ['a.outcome = ?', outcome],
    ['a.created_at >= ?', createdFrom],
    ['a.created_at < ?', createdTo],
    // Of any merchant: the number of an entry reveals only its time.
    ['(a.created_at, a.id) < (SELECT b.created_at, b.id FROM audit_entries b WHERE b.id = ?)', before],
  ]);
  const text = `${SELECT} WHERE a.merchant_id = $1${conditions} ORDER BY a.created_at DESC, a.id DESC LIMIT $2`;
  const query = composedStatement('audit_entry_list', text);
  return readPage(limit, (count) => db.run<AuditRow>(query, [merchantId, count, ...values]));
}
