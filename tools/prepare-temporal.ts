// Finds or builds both kinds of Temporal server before the tests, whose time limits are too short for a first build.
import { readArguments } from '../src/arguments.mjs';
import { resolveTemporalBinary, resolveTemporalPrograms } from '../src/engines/temporal/binary.ts';

readArguments({
  usage: 'usage: node --import=tsx/esm tools/prepare-temporal.ts\n\nFinds or builds the Temporal servers of the tests.',
});
const options = {
  env: process.env,
  report: (line: string) => {
    process.stdout.write(`${line}\n`);
  },
};
await resolveTemporalBinary(options);
await resolveTemporalPrograms(options);
