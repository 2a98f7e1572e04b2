// Decides why a workflow could not be started: because of its own work, or of something that stops all work.
import type { WorkKind } from '../domain/work.ts';

export type StartFailures = {
  /** Begins a pass over all kinds; its number is for `isFailureOfWork`. */
  beginPass(): number;
  /** Temporal accepted a start of this kind. */
  readonly noteStarted: (kind: WorkKind) => void;
  /**
   * Whether the failures of this pass are those of the work itself: Temporal accepted other work in the pass, or since
   * work of the kind last failed, or work of the kind within the last minute. If many fail together, only work of the
   * same kind proves it.
   */
  isFailureOfWork(kind: WorkKind, failed: number, pass: number): boolean;
  /** This many of the kind failed for an unknown reason: the kind is paused, longer each time. */
  noteUnexplained(kind: WorkKind, failed: number): void;
  isPaused(kind: WorkKind): boolean;
  /** Whether so much of a kind fails that each piece of work is unlikely to be the reason. */
  isAnyWidespread(): boolean;
  /** No work of this kind fails for an unknown reason any more. */
  clear(kind: WorkKind): void;
};

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;
const WIDESPREAD_FROM = 10;
/**
 * A minute holds at most six failures of one piece of work, which quarantine nothing. Without it, work that fails in
 * many passes would close the gate, and no later start could prove the reason.
 */
const RECENT_START_MS = 60_000;

/** The pause before the next call to a Temporal that accepted nothing, after this many pauses. */
export const pauseMs = (pauses: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses);

type Unexplained = {
  readonly event: number;
  readonly isWidespread: boolean;
  readonly pauses: number;
  readonly resumeAtMs: number;
};

export function createStartFailures(): StartFailures {
  // Starts, failures and passes are numbered in the order in which they happen.
  let events = 0;
  const lastStart = new Map<WorkKind, { readonly event: number; readonly atMs: number }>();
  const unexplained = new Map<WorkKind, Unexplained>();

  return {
    beginPass: () => ++events,
    noteStarted(kind) {
      lastStart.set(kind, { event: ++events, atMs: Date.now() });
    },
    isFailureOfWork(kind, failed, pass) {
      const ofKind = lastStart.get(kind);
      if (ofKind !== undefined && Date.now() - ofKind.atMs < RECENT_START_MS) return true;
      const since = unexplained.get(kind)?.event ?? pass;
      const starts = failed < WIDESPREAD_FROM ? [...lastStart.values()] : [ofKind];
      return starts.some((start) => start !== undefined && start.event > since);
    },
    noteUnexplained(kind, failed) {
      const pauses = unexplained.get(kind)?.pauses ?? 0;
      unexplained.set(kind, {
        event: ++events,
        isWidespread: failed >= WIDESPREAD_FROM,
        pauses: pauses + 1,
        resumeAtMs: Date.now() + pauseMs(pauses),
      });
    },
    isPaused: (kind) => Date.now() < (unexplained.get(kind)?.resumeAtMs ?? 0),
    isAnyWidespread: () => [...unexplained.values()].some(({ isWidespread }) => isWidespread),
    clear(kind) {
      unexplained.delete(kind);
    },
  };
}
