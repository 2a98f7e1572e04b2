// The service's staff in tests: people with one password and a second factor each, and what they agree on together.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/platform/database.ts';
import { attestRow } from '../../src/db/accounts/attested-rows.ts';
import { insertFounders, sealContextOf } from '../../src/db/accounts/staff-member.ts';
import { findUserByEmail } from '../../src/db/accounts/user.ts';
import { newId, type StaffProposalId } from '../../src/domain/ids.ts';
import { parseStaffName, type StaffMember } from '../../src/domain/accounts/staff.ts';
import type { Proposed } from '../../src/domain/accounts/staff-proposal.ts';
import { enrolStaff } from '../../src/operations/accounts/enrol-staff.ts';
import { decideOnStaffProposal, proposeAsStaff } from '../../src/operations/accounts/staff-proposals.ts';
import { seal, type KeyRing } from '../../src/security/sealing.ts';
import { generateTotpSecret, totpStepAt } from '../../src/security/totp.ts';
import { tamper } from '../db/rows.ts';
import { ATTESTATION_RING } from './attestation.ts';
import { codeOf, PASSWORD, passwordHash } from './people.ts';

export type TestStaff = StaffMember & { readonly totpSecret: string };

export function staffNamed(name: string): TestStaff {
  const parsed = parseStaffName(name);
  assert.ok(parsed !== null);
  return { id: newId('stf'), name: parsed, totpSecret: generateTotpSecret() };
}

export const [AMINA, BRIAN] = [staffNamed('amina'), staffNamed('brian')];

/** The last step of a code of long ago. */
const LONG_AGO = 1;

/** Makes AMINA and BRIAN the first two of the staff, unless they are. */
export async function addFirstStaff(db: Database, keyRing: KeyRing = ATTESTATION_RING): Promise<void> {
  const { rowCount } = await db.pool.query('SELECT 1 FROM staff_members WHERE id = $1', [AMINA.id]);
  if (rowCount === 1) return;
  const hash = await passwordHash();
  const rowOf = ({ id, name, totpSecret }: TestStaff) => {
    const totpSecretSealed = seal(totpSecret, sealContextOf({ id, proposalId: null }), keyRing);
    return { id, name, passwordHash: hash, totpSecretSealed, totpLastStep: LONG_AGO };
  };
  const founders = [rowOf(AMINA), rowOf(BRIAN)] as const;
  assert.ok(await db.withTransaction((tx) => insertFounders(tx, founders, new Date())));
}

/** One more of the staff, on whom AMINA and BRIAN agreed, and who enrolled. */
export async function addStaff(db: Database, name: string, keyRing: KeyRing = ATTESTATION_RING): Promise<TestStaff> {
  await addFirstStaff(db, keyRing);
  const { name: parsed, totpSecret } = staffNamed(name);
  const { tokens } = await agree(db, { kind: 'staff_addition', payload: { name: parsed } });
  const credentials = { passwordHash: await passwordHash(), totpSecret, totpLastStep: totpStepAt(new Date()) };
  const member = await enrolStaff(db, { name: parsed, tokens, ...credentials, keyRing, at: new Date() });
  return { ...member, totpSecret };
}

/** A proposal by AMINA that BRIAN confirms at that moment; with the tokens of both, which may be empty. */
export async function agree(
  db: Database,
  proposed: Proposed,
  at = new Date(),
): Promise<{ readonly id: StaffProposalId; readonly tokens: readonly [string, string] }> {
  const made = await proposeAsStaff(db, { proposed, by: AMINA, at });
  const { token } = await decideOnStaffProposal(db, { id: made.id, decision: 'confirmed', by: BRIAN, at });
  return { id: made.id, tokens: [made.token ?? '', token ?? ''] };
}

/** What proposes the recovery of this person, as the staff's command makes it. */
export async function recoveryOf(db: Database, email: string, reason = 'lost it all'): Promise<Proposed<'recovery'>> {
  await addFirstStaff(db);
  const user = await findUserByEmail(db, email);
  assert.ok(user !== null);
  return { kind: 'recovery', payload: { user_id: user.id, email: user.email, name: user.name, reason } };
}

/** The token with which the person sets a new password, as the two of them agreed at that moment. */
export async function recoveryToken(db: Database, email: string, at = new Date()): Promise<string> {
  const { tokens } = await agree(db, await recoveryOf(db, email), at);
  return tokens[1];
}

/** The lines by which the person logs in for a command; their codes are valid again, as if time had passed. */
export async function logInLines(db: Database, { id, totpSecret }: TestStaff): Promise<string> {
  await forgetUsedSteps(db, id);
  return `${PASSWORD}\n${codeOf(totpSecret)}\n`;
}

export async function forgetUsedSteps(db: Database, id: StaffMember['id']): Promise<void> {
  await tamper(db, `UPDATE staff_members SET totp_last_step = ${LONG_AGO} WHERE id = $1 AND totp_last_step > 0`, [id]);
  await db.withTransaction((tx) => attestRow(tx, 'staff_members', [id]));
}
