// Events as they come to be, from a list that is only ever asked for: none missed, none twice.
import type { EventRow } from './answers.ts';

/**
 * An event has its id and its time from before its transaction commits, so that of two events the later one can be seen
 * first: what is "newer than the last one seen" misses the other. So each look takes in what was made since this long
 * before the last look that succeeded, and what was seen is left out. It is longer than any transaction of the service can
 * take (each statement ends after ten seconds), and takes in that two of its machines differ by some seconds.
 */
export const OVERLAP_MS = 120_000;

export type Look = {
  readonly events: readonly EventRow[];
  /** By the service's clock, when the question was asked: what had been committed then is in `events`. */
  readonly askedAt: Date;
};

export type EventFeed = {
  /** What came to be since the last look, oldest first. A look that fails leaves what it would have found for the next. */
  next(): Promise<EventRow[]>;
};

/**
 * `look` gives every event made from a moment on, and for null what was made within the overlap before now. The feed begins with what is made from `since` on; without it, with what
 * comes to be after the first look, which gives nothing.
 */
export function createEventFeed(look: (from: Date | null) => Promise<Look>, since: Date | null): EventFeed {
  const seen = new Map<string, number>();
  let coveredUntilMs: number | null = null;

  return {
    async next() {
      const isFirst = coveredUntilMs === null;
      const fromMs: number | null = coveredUntilMs === null ? null : coveredUntilMs - OVERLAP_MS;
      const { events, askedAt } = await look(fromMs === null ? since : new Date(fromMs));
      const fresh = events.filter(({ id }) => !seen.has(id));
      for (const { id, created_at: createdAt } of fresh) seen.set(id, Date.parse(createdAt));
      coveredUntilMs = askedAt.getTime();
      forget(seen, coveredUntilMs - OVERLAP_MS);
      if (isFirst && since === null) return [];
      const wanted = fresh.filter(
        ({ created_at: createdAt }) => since === null || Date.parse(createdAt) >= since.getTime(),
      );
      return wanted.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at) || (a.id < b.id ? -1 : 1));
    },
  };
}

// No later look asks for what is older.
function forget(seen: Map<string, number>, beforeMs: number): void {
  for (const [id, createdAtMs] of seen) if (createdAtMs < beforeMs) seen.delete(id);
}
