// The data folder of the embedded start: whether it is writable and its disk has room.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** For a new database with its write-ahead log, Temporal's database, and the logs of the first hours. */
const LEAST_FREE_MB = 200;
const MB = 1024 * 1024;

/** Creates the folder unless it exists. If it is unusable, throws one line with the folder and its setting. */
export function prepareDataFolder(folder: string): void {
  try {
    createFolder(folder);
    const probe = join(folder, `.writable-${randomBytes(6).toString('hex')}`);
    writeFileSync(probe, 'x');
    rmSync(probe);
  } catch (error) {
    throw new Error(unusable(folder, reasonOf(error)), { cause: error });
  }
  const { bavail, bsize } = statfsSync(folder);
  const freeMb = Math.floor((bavail * bsize) / MB);
  if (freeMb < LEAST_FREE_MB) {
    throw new Error(unusable(folder, `its disk has ${freeMb} MB left, and a start needs ${LEAST_FREE_MB} MB`));
  }
}

// Node's own recursive creation tries for ever if the system says that there is no such path, as below /proc.
function createFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (!existsSync(dirname(folder))) createFolder(dirname(folder));
  mkdirSync(folder);
}

function unusable(folder: string, reason: string): string {
  return `the data folder ${folder} cannot be used: ${reason}. Change that, or choose another folder with MALIPO_DATA_DIR.`;
}

const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'it is on a file system that is read-only',
  EACCES: 'this account may not write there',
  EPERM: 'this account may not write there',
  ENOTDIR: 'a part of this path is a file and no folder',
  ENOENT: 'the system lets nobody create it there',
  EEXIST: 'it is a file and no folder',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
};

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? message;
}
