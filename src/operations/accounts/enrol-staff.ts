// Gives the service's staff passwords and second factors: first the founders, then each on whom two others agreed.
import { recordStaffAct } from '../../db/accounts/audit.ts';
import {
  enrolStaff as enrolRow,
  findStaffByName,
  insertFounders,
  lockStaff,
  sealContextOf,
  type Founder,
} from '../../db/accounts/staff-member.ts';
import { findStaffProposal, hasTokens } from '../../db/accounts/staff-proposal.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { stateConflict } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { StaffMember, StaffName } from '../../domain/accounts/staff.ts';
import { STAFF_PROPOSAL_LIFE_MS } from '../../domain/accounts/staff-proposal.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';
import { hashToken } from '../../security/token.ts';

/** The choices of a person, and the time step of the code that proves that their authenticator app has the secret. */
export type StaffCredentials = {
  readonly passwordHash: string;
  readonly totpSecret: string;
  /** The code of this step is used up. */
  readonly totpLastStep: number;
};

export type BeginStaff = {
  readonly founders: readonly [NamedCredentials, NamedCredentials];
  readonly keyRing: KeyRing;
  readonly at: Date;
};
type NamedCredentials = StaffCredentials & { readonly name: StaffName };

/**
 * The first two people of the staff, who can log in from now on. Works once: throws `state_conflict` if staff exist
 * already, also to all but one of several concurrent runs. Then nothing changes.
 */
export async function beginStaff(db: Database, { founders, keyRing, at }: BeginStaff): Promise<readonly StaffMember[]> {
  const [first, second] = founders;
  const rows = [rowOf(first, { keyRing, at }), rowOf(second, { keyRing, at })] as const;
  await db.withTransaction(async (tx) => {
    if (!(await insertFounders(tx, rows, at))) throw staffBegun();
    for (const { id, name } of rows) {
      const after = { founders: rows.map((row) => row.name) };
      await recordStaffAct(tx, null, { id, name }, { action: 'staff.begun', subjectId: id, after, at });
    }
  });
  return rows.map(({ id, name }) => ({ id, name }));
}

/** The staff have begun already. */
export function staffBegun() {
  return stateConflict('The service has its staff already. Two of them add another one.');
}

function rowOf(
  { name, ...credentials }: NamedCredentials,
  { keyRing, at }: Pick<BeginStaff, 'keyRing' | 'at'>,
): Founder {
  const id = newId('stf', at.getTime());
  return { id, name, ...sealed(credentials, id, keyRing) };
}

function sealed({ passwordHash, totpSecret, totpLastStep }: StaffCredentials, context: string, keyRing: KeyRing) {
  return { passwordHash, totpSecretSealed: seal(totpSecret, context, keyRing), totpLastStep };
}

export type StaffEnrolment = {
  readonly name: StaffName;
  /** The tokens of the proposer and of the person who confirmed, in any order. */
  readonly tokens: readonly [string, string];
  readonly at: Date;
};

/** Throws `state_conflict` unless the tokens are those of a person's enrolment, confirmed within 24 hours. */
export async function checkStaffEnrolment(db: Database, enrolment: StaffEnrolment): Promise<void> {
  await db.withTransaction((tx) => requireEnrolment(tx, enrolment));
}

export type EnrolStaff = StaffEnrolment & StaffCredentials & { readonly keyRing: KeyRing };

/**
 * The person, who can log in from now on. Throws as `checkStaffEnrolment` does; then nothing changes. The tokens work
 * once: of two concurrent enrolments, one succeeds.
 */
export async function enrolStaff(db: Database, enrolment: EnrolStaff): Promise<StaffMember> {
  const { keyRing, at } = enrolment;
  return db.withTransaction(async (tx) => {
    await lockStaff(tx);
    const found = await requireEnrolment(tx, enrolment);
    const by = { id: found.id, name: found.name };
    await enrolRow(tx, { id: by.id, ...sealed(enrolment, sealContextOf(found), keyRing) });
    const after = { proposal_id: found.proposalId };
    await recordStaffAct(tx, null, by, { action: 'staff.enrolled', subjectId: by.id, after, at });
    return by;
  });
}

async function requireEnrolment(tx: Tx, { name, tokens: [one, other], at }: StaffEnrolment) {
  const found = await findStaffByName(tx, name);
  const [first, second] = [hashToken(one), hashToken(other)];
  const proposalId = found?.proposalId ?? null;
  if (found?.state === 'active' && found.passwordHash === null && proposalId !== null && first && second) {
    const since = new Date(at.getTime() - STAFF_PROPOSAL_LIFE_MS);
    const isAgreed = (await findStaffProposal(tx, proposalId)) !== null;
    const digests = [first, second] as const;
    const matches =
      (await hasTokens(tx, proposalId, digests, since)) || (await hasTokens(tx, proposalId, [second, first], since));
    if (isAgreed && matches) return found;
  }
  throw stateConflict(`These are not the two tokens by which ${name} enrols, or they were used or have expired.`);
}
