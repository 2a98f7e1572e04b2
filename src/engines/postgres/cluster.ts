// The folder of an embedded PostgreSQL: its location, password and initialisation, and a server left running on it.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountForPostgres, canEnter, isSafelyOurs, createFolderFor, createPrivateFolder } from './account.ts';
import { writePrivateFile } from '../process/private-file.ts';
import { commandLineOf, endProcess, identifyProcess } from '../process/process-identity.ts';
import type { Account } from '../process/supervised-process.ts';

export const SUPERUSER = 'postgres';

export type Cluster = {
  /** The folder with the password and the cluster. */
  readonly dataDir: string;
  readonly folder: string;
  readonly account: Account | undefined;
  readonly password: string;
};

export type ClusterOptions = {
  readonly dataDir: string;
  readonly fallbackDataDir?: string | undefined;
  readonly report: (line: string) => void;
};

const LEFTOVER_LIMIT_MS = 30_000;

/**
 * Returns the cluster's folders, account and password. If PostgreSQL's account cannot enter `dataDir` (this process is
 * root, and a parent folder is for root alone), `fallbackDataDir` is used; without one it throws.
 */
export function locateCluster({ dataDir, fallbackDataDir, report }: ClusterOptions): Cluster {
  const account = accountForPostgres(join(dataDir, 'cluster'));
  const chosen = reachableFolder(dataDir, fallbackDataDir, account, report);
  // Links are resolved, because PostgreSQL reports its folder that way and the names are compared.
  const resolved = realpathSync(chosen);
  const folder = join(resolved, 'cluster');
  const owner = chosen === dataDir ? account : accountForPostgres(folder);
  return {
    dataDir: resolved,
    folder,
    account: owner,
    password: readOrCreatePassword(join(resolved, 'password'), folder),
  };
}

function reachableFolder(
  dataDir: string,
  fallback: string | undefined,
  account: Account | undefined,
  report: (line: string) => void,
): string {
  createFolderFor(dataDir, account);
  if (account === undefined || canEnter(dataDir, account)) return dataDir;
  const reason = `PostgreSQL does not run as root, and its account (uid ${account.uid}) cannot enter ${dataDir}`;
  if (fallback === undefined) {
    throw new Error(
      `${reason}. Choose a data folder that others may enter (chmod o+x on each folder above it), or start as an ordinary user`,
    );
  }
  report(`${reason}; its data are in ${fallback}`);
  createFolderFor(fallback, account);
  if (!isSafelyOurs(fallback))
    throw new Error(`${fallback} is not a folder of ours alone. Remove it or choose another`);
  if (!canEnter(fallback, account)) throw new Error(`${reason}, nor ${fallback}`);
  return fallback;
}

/**
 * Returns the stored password, or stores a new one. Called before initdb, so that a cluster always has its password.
 */
function readOrCreatePassword(file: string, cluster: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  if (existsSync(cluster)) throw new Error(`the database in ${cluster} is there, but its password in ${file} is not`);
  const password = randomBytes(24).toString('base64url');
  writePrivateFile(file, `${password}\n`);
  return password;
}

/**
 * Creates the cluster unless it exists: beside its final folder, then renamed, so that a killed start can be repeated.
 */
export function initialiseCluster(
  { dataDir, folder, account, password }: Cluster,
  initdb: string,
  isDurable: boolean,
): void {
  if (existsSync(folder)) return;
  const [unfinished, passwordFile] = [`${folder}.unfinished`, join(dataDir, 'initdb-password')];
  for (const leftover of [unfinished, passwordFile]) rmSync(leftover, { recursive: true, force: true });
  createPrivateFolder(unfinished, account);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) chownSync(passwordFile, account.uid, account.gid);
  try {
    const args = [
      ...['-D', unfinished, '-U', SUPERUSER, '-A', 'scram-sha-256', '--pwfile', passwordFile, '--no-instructions'],
      // The built-in locale sorts and classifies the same on every system.
      ...['-E', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ...(isDurable ? [] : ['--no-sync']),
    ];
    const { status, stderr, stdout, error } = spawnSync(initdb, args, {
      encoding: 'utf8',
      cwd: dataDir,
      env: POSTGRES_ENVIRONMENT,
      ...(account ?? {}),
    });
    if (status !== 0)
      throw new Error(`initdb could not make ${folder}: ${error?.message ?? `${stderr}${stdout}`.trim()}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(unfinished, folder);
}

/** Nothing is inherited: variables such as PGPORT in the user's shell concern other servers. */
export const POSTGRES_ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } as const;

/** Stops a server left by a killed process. The caller knows that no other process uses the cluster. */
export async function endLeftoverServer(cluster: Cluster, report: (line: string) => void): Promise<void> {
  const pid = postmasterStatus(cluster)?.pid;
  const postmaster = pid === undefined ? undefined : identifyProcess(pid);
  // Without a process of that number PostgreSQL itself recognises postmaster.pid as stale.
  if (!postmaster) return;
  if (!isPostmasterOf(postmaster.pid, cluster.folder)) {
    // Another program has the number now. PostgreSQL would take it for a server and refuse to start.
    rmSync(join(cluster.folder, 'postmaster.pid'), { force: true });
    return;
  }
  report(`stopping the database server (process ${postmaster.pid}) that a killed run left on ${cluster.folder}`);
  await endProcess(postmaster, 'SIGINT', LEFTOVER_LIMIT_MS);
}

/** Reads postmaster.pid: the first line is the process, the eighth is "ready" once the server accepts connections. */
export function postmasterStatus({ folder }: Cluster): { pid: number; isReady: boolean } | undefined {
  const file = join(folder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  return { pid: Number(lines[0]), isReady: lines[7]?.trim() === 'ready' };
}

// The server is always started as `postgres -D <folder>`, and its command line stays so.
function isPostmasterOf(pid: number, folder: string): boolean {
  const [program = '', ...args] = commandLineOf(pid);
  return /(^|\/)postgres$/.test(program) && args[args.indexOf('-D') + 1] === folder;
}
