// Resolves the Temporal binary with the settings of its environment, as a start does, and prints what it reports and its path.
import { resolveTemporalBinary } from '../../../src/engines/temporal/binary.ts';

const report = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
process.stdout.write(
  `${await resolveTemporalBinary({ env: process.env, sourceDir: process.argv[2] ?? '', report })}\n`,
);
