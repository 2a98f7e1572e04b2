// Entry of `npm start`: all of Malipo on one machine, from nothing to a paid collection and its verified webhook.
import { runEmbedded } from '../dev/embedded-start.ts';
import { prepareDatabase } from './prepare-database.ts';

// Whoever read this output may have gone, or its disk is full: neither may end what runs.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

runEmbedded(process.env, prepareDatabase).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\nMalipo cannot run: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
