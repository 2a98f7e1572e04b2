// Entry of `npm run accounts`: creates the accounts and databases of the service, then ends. Safe to repeat.
import { readArguments } from '../../arguments.mjs';
import { ConfigError, loadAccountsSettings } from '../../settings/config.ts';
import { createAccounts } from '../../db/platform/create-accounts.ts';

readArguments({
  usage: 'usage: npm run accounts\n\nCreates the accounts and databases that its settings name: docs/config.md.',
});
try {
  const settings = loadAccountsSettings(process.env);
  await createAccounts({
    adminUrl: settings.MALIPO_DATABASE_ADMIN_URL.reveal(),
    ownerUrl: settings.MALIPO_DATABASE_OWNER_URL.reveal(),
    applicationUrl: settings.MALIPO_DATABASE_URL.reveal(),
    reportUrl: settings.MALIPO_DATABASE_REPORT_URL?.reveal(),
    temporalUrl: settings.MALIPO_TEMPORAL_DATABASE_URL?.reveal(),
  });
  process.stdout.write('database: the accounts are ready\n');
} catch (error) {
  const text = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`accounts failed: ${text ?? ''}\n`);
  process.exitCode = 1;
}
