// Accounts with operators in tests: AMINA and BRIAN agree on them, as the staff do.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/platform/database.ts';
import { listOperatorAccounts } from '../../src/db/accounts/operator-account.ts';
import type { OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import type { OperatorAccount } from '../../src/domain/payments/operator-account.ts';
import { sealAccount } from '../../src/security/operator-credentials.ts';
import { seedAccounts, type DemoAccount } from '../../src/dev/demo-accounts.ts';
import type { Config } from '../../src/settings/config.ts';
import { addFirstStaff, agree, AMINA, BRIAN } from './staff.ts';

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
  const { id } = await accountOf(db, account.terms.operator);
  const payload = sealAccount({ ...account, id, keyRing, deployment: { environment: 'test', callbackUrl } });
  await agree(db, { kind: 'operator_account_rotation', payload });
}

export async function closeAccount(db: Database, operator: OperatorId): Promise<void> {
  const { id, country } = await accountOf(db, operator);
  await agree(db, { kind: 'operator_account_closing', payload: { account: id, operator, country } });
}

async function accountOf(db: Database, operator: OperatorId): Promise<OperatorAccount> {
  const found = (await listOperatorAccounts(db)).find((account) => account.operator === operator);
  assert.ok(found, `no account with ${operator}`);
  return found;
}
