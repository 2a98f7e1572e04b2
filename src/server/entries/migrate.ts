// Entry: prepares the database and the Temporal cluster for this version, then ends. Safe to repeat.
import { prepareTemporal } from '../../temporal/setup.ts';
import { temporalTarget } from '../../temporal/transport.ts';
import { loadCommandConfig, loadMigrateSettings } from '../../settings/config.ts';
import { prepareDatabase } from '../prepare-database.ts';
import { runCommand } from '../run-process.ts';

const USAGE =
  'usage: npm run migrate\n\nPrepares the database and the Temporal namespace that its settings name: docs/config.md.';

await runCommand('migrate', USAGE, async () => {
  const { settings, temporalNamespace } = loadCommandConfig(process.env);
  const ownerUrl = loadMigrateSettings(process.env).MALIPO_DATABASE_OWNER_URL.reveal();
  const applied = await prepareDatabase(ownerUrl, settings.MALIPO_ENVIRONMENT, (line) => {
    process.stdout.write(`database: ${line}\n`);
  });
  process.stdout.write(`database: ${applied.length === 0 ? 'up to date' : `applied ${applied.join(', ')}`}\n`);
  await prepareTemporal({ ...temporalTarget(settings), namespace: temporalNamespace });
  process.stdout.write(`Temporal: namespace ${temporalNamespace} is ready\n`);
});
