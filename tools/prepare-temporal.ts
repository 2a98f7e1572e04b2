// Finds or builds both kinds of Temporal server before the tests, whose time limits are too short for a first build.
import { resolveTemporalBinary, resolveTemporalPrograms } from '../src/dev/temporal-binary.ts';

const options = {
  env: process.env,
  report: (line: string) => {
    process.stdout.write(`${line}\n`);
  },
};
await resolveTemporalBinary(options);
await resolveTemporalPrograms(options);
