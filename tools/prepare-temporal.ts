// Finds or builds the Temporal server before the tests, whose time limits are too short for a first build.
import { resolveTemporalBinary } from '../src/dev/temporal-binary.ts';

await resolveTemporalBinary({
  env: process.env,
  report: (line) => {
    process.stdout.write(`${line}\n`);
  },
});
