// CPU time of processes and their children, as the kernel counts it (Linux).
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

type Stat = { readonly parent: number; readonly ticks: number };

/** CPU seconds of this process alone. */
function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** CPU seconds of the process and all its running and reaped descendants. */
function cpuSecondsOf(pid: number): number {
  return familyStats(pid).reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
}

/** The process and all its running descendants. */
export function familyOf(pid: number): number[] {
  return familyStats(pid).map((member) => member.pid);
}

function familyStats(pid: number): (Stat & { readonly pid: number })[] {
  const stats = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue;
    const stat = readStat(Number(name));
    if (stat) stats.set(Number(name), stat);
  }
  const family: (Stat & { readonly pid: number })[] = [];
  const pending = [pid];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const stat = stats.get(next);
    if (stat) family.push({ ...stat, pid: next });
    for (const [child, { parent }] of stats) if (parent === next) pending.push(child);
  }
  return family;
}

/** Processes by what they are called in a report; undefined for one that is not there. */
export type Pids = Readonly<Record<string, number | undefined>>;

/** CPU seconds of each process, 0 for one that is not there. All others are children of this one, which counts without its children. */
export function cpuSecondsByName(pids: Pids): Record<string, number> {
  const secondsOf = (pid: number | undefined): number => {
    if (pid === undefined) return 0;
    return pid === process.pid ? ownCpuSeconds() : cpuSecondsOf(pid);
  };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, secondsOf(pid)]));
}

/** CPU milliseconds of each process since `cpuSecondsByName` returned `before`, for each of `count` things that were done. */
export function cpuMsSince(before: Readonly<Record<string, number>>, pids: Pids, count = 1): Record<string, number> {
  const now = Object.entries(cpuSecondsByName(pids));
  return Object.fromEntries(now.map(([name, total]) => [name, ((total - (before[name] ?? 0)) * 1000) / count]));
}

/** CPU milliseconds of the first thread of a process, to the nanosecond: all of it for one of PostgreSQL’s. */
export function cpuMsOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;
}

function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may contain spaces. After it: state, parent, …, and from the 12th utime, stime, cutime,
    // cstime.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [utime = 0, stime = 0, childUtime = 0, childStime = 0] = fields.slice(11, 15);
    return { parent: fields[1] ?? 0, ticks: utime + stime + childUtime + childStime };
  } catch {
    return null;
  }
}
