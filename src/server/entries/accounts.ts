// Entry of `npm run accounts`: creates the accounts and databases of the service, then ends. Safe to repeat.
import { loadAccountsSettings } from '../../settings/config.ts';
import { createAccounts } from '../../db/platform/create-accounts.ts';
import { runCommand } from '../run-process.ts';

const USAGE = 'usage: npm run accounts\n\nCreates the accounts and databases that its settings name: docs/config.md.';

await runCommand('accounts', USAGE, async () => {
  const settings = loadAccountsSettings(process.env);
  await createAccounts({
    adminUrl: settings.MALIPO_DATABASE_ADMIN_URL.reveal(),
    ownerUrl: settings.MALIPO_DATABASE_OWNER_URL.reveal(),
    applicationUrl: settings.MALIPO_DATABASE_URL.reveal(),
    reportUrl: settings.MALIPO_DATABASE_REPORT_URL?.reveal(),
    temporalUrl: settings.MALIPO_TEMPORAL_DATABASE_URL?.reveal(),
  });
  process.stdout.write('database: the accounts are ready\n');
});
