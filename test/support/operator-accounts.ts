// Accounts with operators in tests: AMINA and BRIAN agree on them, as the staff do.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/platform/database.ts';
import { listOperatorAccounts } from '../../src/db/accounts/operator-account.ts';
import type { OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import { proposeClosing, proposeRotation } from '../../src/operations/accounts/propose-operator-account.ts';
import { decideOnStaffProposal, type StaffProposalMade } from '../../src/operations/accounts/staff-proposals.ts';
import { seedAccounts, type DemoAccount } from '../../src/dev/demo-accounts.ts';
import type { Config } from '../../src/settings/config.ts';
import { addFirstStaff, AMINA, BRIAN } from './staff.ts';

type Settings = Config['settings'];

/** Makes these accounts. AMINA and BRIAN are the staff from then on. */
export async function addAccounts(db: Database, settings: Settings, accounts: readonly DemoAccount[]): Promise<void> {
  const { MALIPO_OPERATOR_KEYS: keyRing, MALIPO_SECRET_KEYS: secretKeys, MALIPO_PUBLIC_URL: callbackUrl } = settings;
  assert.ok(keyRing);
  await addFirstStaff(db, secretKeys);
  await seedAccounts(db, { accounts, keyRing, callbackUrl, staff: [AMINA, BRIAN] });
}

/** Gives the account of the same operator these terms and credentials; a process that runs reads them within seconds. */
export async function rotateAccount(db: Database, settings: Settings, account: DemoAccount): Promise<void> {
  const { MALIPO_OPERATOR_KEYS: keyRing, MALIPO_PUBLIC_URL: callbackUrl } = settings;
  assert.ok(keyRing);
  const { terms, credentials } = account;
  const deployment = { environment: 'test', callbackUrl } as const;
  const given = { credentials, keyRing, deployment, by: AMINA, at: new Date() };
  await confirm(db, await proposeRotation(db, { id: await idOf(db, terms.operator), changes: terms, ...given }));
}

export async function closeAccount(db: Database, operator: OperatorId): Promise<void> {
  await confirm(db, await proposeClosing(db, { id: await idOf(db, operator), by: AMINA, at: new Date() }));
}

async function confirm(db: Database, { id }: StaffProposalMade): Promise<void> {
  await decideOnStaffProposal(db, { id, decision: 'confirmed', by: BRIAN, at: new Date() });
}

async function idOf(db: Database, operator: OperatorId) {
  const found = (await listOperatorAccounts(db)).find((account) => account.operator === operator);
  assert.ok(found, `no account with ${operator}`);
  return found.id;
}
