// Refuses migrations that could stop payments: a step of `npm run check`.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readArguments } from '../src/arguments.mjs';
import { findMigrationFaults } from './migration-rules.ts';

readArguments({ usage: 'usage: node --import=tsx/esm tools/lint-migrations.ts\n\nChecks the migrations.' });

const folder = join(import.meta.dirname, '../src/db/schema');
const names = (await readdir(folder)).filter((name) => name.endsWith('.sql'));
const contents = await Promise.all(
  names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const),
);
const faults = findMigrationFaults(Object.fromEntries(contents));
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
