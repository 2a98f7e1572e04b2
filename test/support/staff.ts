// The service's staff in tests: two people, and what they do together.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/platform/database.ts';
import { parseStaff, type Staff } from '../../src/domain/accounts/staff.ts';
import { approveRecovery, requestRecovery } from '../../src/operations/accounts/recover-account.ts';

function staff(name: string): Staff {
  const parsed = parseStaff(name);
  assert.ok(parsed !== null);
  return parsed;
}

export const [AMINA, BRIAN] = [staff('amina'), staff('brian')];

/** The token with which the person sets a new password, as the two of them agreed at that moment. */
export async function recoveryToken(db: Database, email: string, at = new Date()): Promise<string> {
  const requested = await requestRecovery(db, { email, reason: 'lost it all', by: AMINA, at });
  assert.ok(requested !== null);
  return (await approveRecovery(db, { id: requested.id, by: BRIAN, at })).token;
}
