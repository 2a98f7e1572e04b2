// Entry: prepares the database and the Temporal cluster for this version, then ends. Safe to repeat.
import { prepareTemporal } from '../temporal/setup.ts';
import { ConfigError, loadConfig } from '../config.ts';
import { prepareDatabase } from './prepare-database.ts';

try {
  const { settings, temporalNamespace } = loadConfig(process.env);
  const applied = await prepareDatabase(settings.MALIPO_DATABASE_URL.reveal());
  process.stdout.write(`database: ${applied.length === 0 ? 'up to date' : `applied ${applied.join(', ')}`}\n`);
  await prepareTemporal({ address: settings.MALIPO_TEMPORAL_ADDRESS, namespace: temporalNamespace });
  process.stdout.write(`Temporal: namespace ${temporalNamespace} is ready\n`);
} catch (error) {
  const text = error instanceof ConfigError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`migrate failed: ${text ?? ''}\n`);
  process.exitCode = 1;
}
