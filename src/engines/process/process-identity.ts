// Identifies processes by number and start time, so that a later process with the same number is never ended.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process number and its start time: together they are unique. */
export type ProcessIdentity = { readonly pid: number; readonly startedAt: string };

const POLL_MS = 25;
// After SIGKILL a process may stay in the kernel for a while, for example during a disk write.
const KILL_LIMIT_MS = 5_000;

/** When the process started, as an opaque text to compare; undefined if it does not run (a zombie does not run). */
export function startOfProcess(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
}

export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = startOfProcess(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  return startOfProcess(pid) === startedAt;
}

/** The program and its arguments; empty if the process does not run. On macOS split at spaces, as `ps` shows them. */
export function commandLineOf(pid: number): string[] {
  if (process.platform !== 'linux') {
    return readPs(pid, 'args')?.split(' ') ?? [];
  }
  return readIfThere(`/proc/${pid}/cmdline`)?.split('\0') ?? [];
}

/**
 * Sends `signal`, and SIGKILL after `limitMs`, but only while the number still belongs to the identified process.
 * Returns whether the process still ran. Throws when it outlives SIGKILL or may not be signalled.
 */
export async function endProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals = 'SIGTERM',
  limitMs = 10_000,
): Promise<boolean> {
  if (!isRunning(identity)) return false;
  sendSignal(identity, signal);
  if (await hasGoneWithin(identity, limitMs)) return true;
  sendSignal(identity, 'SIGKILL');
  if (await hasGoneWithin(identity, KILL_LIMIT_MS)) return true;
  throw new Error(`process ${identity.pid} is still there ${KILL_LIMIT_MS / 1_000} s after SIGKILL`);
}

async function hasGoneWithin(identity: ProcessIdentity, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (isRunning(identity)) {
    if (Date.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

// proc(5): the name in brackets may contain spaces, so fields are counted from the last bracket: the state is field 3,
// the start time in clock ticks since boot is field 22. The boot id distinguishes start times from those before a
// reboot.
function startFromProc(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (state === undefined || startTicks === undefined || 'ZX'.includes(state)) return undefined;
  return `${bootId()}/${startTicks}`;
}

function bootId(): string {
  return readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function startFromPs(pid: number): string | undefined {
  const state = readPs(pid, 'stat');
  return state === undefined || state.startsWith('Z') ? undefined : readPs(pid, 'lstart');
}

function readPs(pid: number, column: 'stat' | 'lstart' | 'args'): string | undefined {
  const { stdout } = spawnSync('ps', ['-ww', '-o', `${column}=`, '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  });
  return stdout.trim() || undefined;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    // ESRCH: the process ended between opening and reading.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
