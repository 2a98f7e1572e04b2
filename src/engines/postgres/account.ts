// The account that runs PostgreSQL, which refuses to run as root: ours, or another that can reach its files.
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Account } from '../process/supervised-process.ts';

const USER = 'postgres';
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Undefined if this process is not root: PostgreSQL then runs as the same account. For root, the owner of
 * `existingCluster` if it exists, because PostgreSQL must own its data, otherwise the user `postgres`, which is created
 * if it is missing.
 */
export function accountForPostgres(existingCluster: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(existingCluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return lookUpAccount() ?? createAccount();
}

/** Whether the account can enter the folder, which all parent folders must allow. */
export function canEnter(folder: string, account: Account | undefined): boolean {
  // Only a try with the account's own rights takes groups, access lists and mounts into account.
  return run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], account).status === 0;
}

/** Undefined if the account can start the program with its libraries; otherwise the reason. */
export function obstacleToRunning(binary: string, account: Account | undefined): string | undefined {
  const { status, error, stderr } = run(binary, ['--version'], account);
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

/** Creates a missing folder. If PostgreSQL runs as another account, others may enter it but not list it. */
export function createFolderFor(folder: string, account: Account | undefined): void {
  const firstCreated = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account === undefined || firstCreated === undefined) return;
  for (let created = folder; ; created = dirname(created)) {
    chmodSync(created, 0o711);
    if (created === firstCreated) return;
  }
}

export function createPrivateFolder(folder: string, account: Account | undefined): void {
  mkdirSync(folder, { mode: 0o700 });
  if (account) chownSync(folder, account.uid, account.gid);
}

/** Whether no other account can have written there: a real folder, owned by us, and not writable for others. */
export function isSafelyOurs(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

function lookUpAccount(): Account | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => run('id', [flag, USER], undefined));
  if (uid?.status !== 0 || gid?.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function createAccount(): Account {
  const args = [
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/bin/false',
    USER,
  ];
  const { error, stderr } = run('useradd', args, undefined);
  const account = lookUpAccount();
  if (account) return account;
  const reason = error?.message ?? stderr.trim();
  throw new Error(
    `PostgreSQL does not run as root, and the user "${USER}" could not be created for it (${reason}). ` +
      'Create that user, or start as an ordinary user',
  );
}

function run(command: string, args: readonly string[], account: Account | undefined): SpawnSyncReturns<string> {
  const env = { PATH: SYSTEM_PATH, LC_ALL: 'C' };
  return spawnSync(command, args, { encoding: 'utf8', cwd: '/', env, ...(account ?? {}) });
}
