// Ends the processes of a PostgreSQL server that was killed: each would keep the next server from starting.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { commandLineOf, endProcess, identifyProcess, type ProcessIdentity } from '../process/process-identity.ts';

/** They take it as the order to end at once, without touching the data. */
const SIGNAL = 'SIGQUIT';
const LIMIT_MS = 2_000;

/**
 * Ends the processes that work in this data folder without a server above them. Most end by themselves when their server is
 * killed; one in the middle of a long statement goes on with it, and PostgreSQL does not start while it lives. To be called
 * only when the server is gone. Finds them on Linux alone: elsewhere the next start waits for them.
 */
export async function endOrphansOf(folder: string, report: (line: string) => void): Promise<void> {
  if (process.platform !== 'linux') return;
  const orphans = processNumbers().filter((pid) => isOrphanIn(folder, pid));
  const identities = orphans.map(identifyProcess).filter((identity) => identity !== undefined);
  const ended = await Promise.all(identities.map(endAndCount));
  const count = ended.filter(Boolean).length;
  if (count > 0) report(`ended ${count} processes that a killed database server left on ${folder}`);
}

async function endAndCount(identity: ProcessIdentity): Promise<boolean> {
  return endProcess(identity, SIGNAL, LIMIT_MS);
}

function processNumbers(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number);
}

function isOrphanIn(folder: string, pid: number): boolean {
  // PostgreSQL names its processes so, and each works in the data folder.
  const [name = ''] = commandLineOf(pid);
  return name.startsWith('postgres: ') && workingFolderOf(pid) === folder && !isPostmaster(parentOf(pid));
}

function isPostmaster(pid: number | undefined): boolean {
  const [program = ''] = pid === undefined ? [] : commandLineOf(pid);
  return /(^|\/)postgres$/.test(program);
}

function workingFolderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended, or belongs to somebody whose processes we may not look at, and so not to our server.
    return undefined;
  }
}

function parentOf(pid: number): number | undefined {
  try {
    const parent = /^PPid:\s*([0-9]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return parent === undefined ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}
