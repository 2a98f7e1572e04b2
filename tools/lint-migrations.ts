// Refuses migrations that could stop payments: a step of `npm run check`.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findMigrationFaults } from './migration-rules.ts';

const folder = join(import.meta.dirname, '../src/db/schema');
const names = (await readdir(folder)).filter((name) => name.endsWith('.sql'));
const contents = await Promise.all(
  names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const),
);
const faults = findMigrationFaults(Object.fromEntries(contents));
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
