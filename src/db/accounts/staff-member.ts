// Rows of the staff: their password hashes and second factors. An unattested row counts for nothing.
import {
  canLogIn,
  FEWEST_STAFF,
  staffMemberInactive,
  type StaffMember,
  type StaffName,
} from '../../domain/accounts/staff.ts';
import type { StaffId, StaffProposalId } from '../../domain/ids.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';

const attestedStaff = attestedTable('staff_members');

export type StaffAccount = StaffMember & {
  readonly state: 'active' | 'ended';
  /** The last confirmed proposal about the person; null: a founder without one. */
  readonly proposalId: StaffProposalId | null;
  /** Null: not enrolled. */
  readonly passwordHash: string | null;
  readonly totpSecretSealed: string | null;
};

type StaffRow = StaffAccount & AttestedRow<'staff_members'>;

const SELECT = `SELECT ${attestedStaff.columns}, t.totp_secret_sealed FROM staff_members t`;

async function find(db: Queryable, query: Statement, value: string): Promise<StaffAccount | null> {
  const row = await findOne<StaffRow>(db, query, [value]);
  return row !== null && attestedStaff.isAttested(db, row) ? row : null;
}

const FIND_BY_NAME = statement('staff_member_find_by_name')`${SELECT} WHERE t.name = $1`;

export async function findStaffByName(db: Queryable, name: StaffName): Promise<StaffAccount | null> {
  return find(db, FIND_BY_NAME, name);
}

const FIND = statement('staff_member_find')`${SELECT} WHERE t.id = $1`;

/** Call it under a lock. */
export async function findStaffMember(tx: Tx, id: StaffId): Promise<StaffAccount | null> {
  return find(tx, FIND, id);
}

const FIND_NAME = statement('staff_member_is_name_taken')`SELECT 1 FROM staff_members WHERE name = $1`;

/** Whether anybody has or had the name, attested or not. */
export async function isStaffNameTaken(tx: Tx, name: StaffName): Promise<boolean> {
  return (await tx.run(FIND_NAME, [name])).length > 0;
}

const LOCK = statement('staff_member_lock')`SELECT 1 FROM staff_members WHERE name = $1 FOR NO KEY UPDATE`;

/** The person, locked: of two concurrent log-ins with one code, one finds it used. */
export async function findStaffLocked(tx: Tx, name: StaffName): Promise<StaffAccount | null> {
  await tx.run(LOCK, [name]);
  return findStaffByName(tx, name);
}

const LOCK_ALL = statement('staff_member_lock_all')`SELECT 1 FROM staff_members ORDER BY id FOR NO KEY UPDATE`;

/** Serialises all acts about the staff until this transaction ends. They are few and rare. */
export async function lockStaff(tx: Tx): Promise<void> {
  await tx.run(LOCK_ALL, []);
}

/** Throws `state_conflict` unless the person can log in now. Lock the staff first. */
export async function requireStaff(tx: Tx, { id, name }: StaffMember): Promise<void> {
  const found = await findStaffMember(tx, id);
  if (found?.name !== name || !canLogIn(found)) throw staffMemberInactive({ name });
}

/** The context of the sealed secret of the person's codes: a secret from before a reset cannot be opened. */
export function sealContextOf({ id, proposalId }: Pick<StaffAccount, 'id' | 'proposalId'>): string {
  return proposalId ?? id;
}

const insertFounder = insertion(
  'staff_member_insert_founder',
  'staff_members',
  'id, name, state, founder, password_hash, totp_secret_sealed, totp_last_step, created_at',
  'ON CONFLICT (founder) DO NOTHING RETURNING 1',
);

export type Founder = StaffMember & {
  readonly passwordHash: string;
  readonly totpSecretSealed: string;
  readonly totpLastStep: number;
};

/** The two founders. False if there are founders already; then roll back. The database refuses concurrent ones too. */
export async function insertFounders(tx: Tx, founders: readonly [Founder, Founder], createdAt: Date): Promise<boolean> {
  for (const [index, founder] of founders.entries()) {
    const row = { ...founder, state: 'active', founder: index + 1, createdAt };
    if ((await insertFounder(tx, row)).length === 0) return false;
    await attestedStaff.attest(tx, [founder.id]);
  }
  return true;
}

const insert = insertion(
  'staff_member_insert',
  'staff_members',
  'id, name, state, added_by, confirmed_by, proposal_id, created_at',
);

export type AddedStaffMember = StaffMember & {
  readonly addedBy: StaffId;
  readonly confirmedBy: StaffId;
  readonly proposalId: StaffProposalId;
  readonly createdAt: Date;
};

/** A person who is not enrolled yet. The database refuses a person on whom no two of the staff agreed. */
export async function insertStaffMember(tx: Tx, added: AddedStaffMember): Promise<void> {
  await insert(tx, { ...added, state: 'active' });
  await attestedStaff.attest(tx, [added.id]);
}

const USE_STEP = statement('staff_member_use_step')`
  UPDATE staff_members SET totp_last_step = $2 WHERE id = $1 AND totp_last_step < $2 RETURNING 1`;

/** Uses up the code of this time step and of every earlier one. False if it was used already. */
export async function useStaffStep(tx: Tx, id: StaffId, step: number): Promise<boolean> {
  return attestedStaff.change(tx, [id], async () => (await tx.run(USE_STEP, [id, step])).length === 1);
}

const ENROL = statement('staff_member_enrol')`
  UPDATE staff_members SET password_hash = $2, totp_secret_sealed = $3, totp_last_step = $4
  WHERE id = $1 AND state = 'active' AND password_hash IS NULL`;

/** Gives the person a password and a second factor. Has no effect on an enrolled person. */
export async function enrolStaff(
  tx: Tx,
  { id, passwordHash, totpSecretSealed, totpLastStep }: Omit<Founder, 'name'>,
): Promise<void> {
  await attestedStaff.change(tx, [id], () => tx.run(ENROL, [id, passwordHash, totpSecretSealed, totpLastStep]));
}

const DISMISS = statement('staff_member_dismiss')`
  UPDATE staff_members SET proposal_id = $2, state = $3, ended_at = $4, password_hash = NULL,
    totp_secret_sealed = NULL, totp_last_step = NULL
  WHERE id = $1`;

/** Removes password and second factor: with `endedAt` for ever, otherwise until the person enrols again. */
export async function dismissStaff(
  tx: Tx,
  id: StaffId,
  { proposalId, endedAt }: { readonly proposalId: StaffProposalId; readonly endedAt: Date | null },
): Promise<void> {
  const state = endedAt === null ? 'active' : 'ended';
  await attestedStaff.change(tx, [id], () => tx.run(DISMISS, [id, proposalId, state, endedAt]));
}

const LIST = statement('staff_member_list')`
  SELECT ${attestedStaff.columns}, t.created_at, t.ended_at,
    a.name AS added_by_name, c.name AS confirmed_by_name
  FROM staff_members t LEFT JOIN staff_members a ON a.id = t.added_by LEFT JOIN staff_members c ON c.id = t.confirmed_by
  ORDER BY t.id`;

export type ListedStaffMember = Omit<StaffAccount, 'totpSecretSealed'> & {
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  /** Null: a founder. */
  readonly addedByName: StaffName | null;
  readonly confirmedByName: StaffName | null;
};

/** Everybody with an attested row, including ended people. */
export async function listStaff(db: Queryable): Promise<ListedStaffMember[]> {
  return attestedStaff.only(db, await db.run<ListedStaffMember & AttestedRow<'staff_members'>>(LIST, []));
}

/** Whether enough people can log in without this one. */
export async function isDispensable(db: Queryable, id: StaffId): Promise<boolean> {
  const others = (await listStaff(db)).filter((other) => other.id !== id && canLogIn(other));
  return others.length >= FEWEST_STAFF;
}
