// Entry of `npm start`: all of Malipo on one machine, from nothing to a paid collection and its verified webhook.
import { readArguments } from '../../arguments.mjs';
import { runEmbedded } from '../../dev/embedded-start.ts';
import { prepareDatabase } from '../prepare-database.ts';

readArguments({
  usage: 'usage: npm start\n\nRuns all of Malipo on this machine; docs/demonstration.md lists its settings.',
});

// The reader of this output may be gone, or its disk full: neither may end the run.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

runEmbedded(process.env, prepareDatabase).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\nMalipo cannot run: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
