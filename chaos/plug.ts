// Pulls the plug of engines: every process of theirs is killed at once, so that what they had in memory alone is lost.
import { readFileSync } from 'node:fs';
import type { Engine } from './engine.ts';
import type { Record } from './faults.ts';

/**
 * What a power loss does, but for one thing: what was written and not yet flushed stays, because the operating system goes on.
 * Nothing can run between two of the kills but what runs in the same millisecond.
 */
export function pullPlug(engines: readonly Engine[], record: Record): void {
  const pids = engines.flatMap((engine) => {
    const pid = engine.pid();
    return pid === undefined ? [] : [pid, ...childrenOf(pid)];
  });
  const atMs = Date.now();
  for (const pid of pids) record({ type: 'signal', pid, signal: 'SIGKILL', atMs });
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself: the end of a connection is the end of its process.
    }
  }
}

/** Each connection of PostgreSQL, and each of its tasks, is a process that would notice only a moment later. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
