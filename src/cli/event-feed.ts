// Turns a list of events that can only be polled into a feed of new events: none missed, none twice.
import type { EventRow } from './responses.ts';

/**
 * An event gets its id and its time before its transaction commits, so the later of two events can become visible
 * first, and a poll for newer events would miss the other. So each poll starts this long before the last successful one
 * and leaves out known events. The overlap is longer than any transaction of the service (each statement ends after ten
 * seconds) plus the few seconds by which the clocks of its machines may differ.
 */
export const OVERLAP_MS = 120_000;

export type EventPoll = {
  readonly events: readonly EventRow[];
  /** The time of the poll by the service's clock: `events` contains every event committed by then. */
  readonly polledAt: Date;
};

export type EventFeed = {
  /** The new events since the last poll, oldest first. After a failed poll, the next one returns its events too. */
  next(): Promise<EventRow[]>;
};

/** `poll` returns the events created from a time on (null: the last overlap). Begins at `since` or the first poll. */
export function createEventFeed(poll: (from: Date | null) => Promise<EventPoll>, since: Date | null): EventFeed {
  const seen = new Map<string, number>();
  let coveredUntilMs: number | null = null;

  return {
    async next() {
      const isFirst = coveredUntilMs === null;
      const fromMs: number | null = coveredUntilMs === null ? null : coveredUntilMs - OVERLAP_MS;
      const { events, polledAt } = await poll(fromMs === null ? since : new Date(fromMs));
      const fresh = events.filter(({ id }) => !seen.has(id));
      for (const { id, created_at: createdAt } of fresh) seen.set(id, Date.parse(createdAt));
      coveredUntilMs = polledAt.getTime();
      removeOlder(seen, coveredUntilMs - OVERLAP_MS);
      if (isFirst && since === null) return [];
      const wanted = fresh.filter(
        ({ created_at: createdAt }) => since === null || Date.parse(createdAt) >= since.getTime(),
      );
      return wanted.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at) || (a.id < b.id ? -1 : 1));
    },
  };
}

// No later poll reads older events.
function removeOlder(seen: Map<string, number>, beforeMs: number): void {
  for (const [id, createdAtMs] of seen) if (createdAtMs < beforeMs) seen.delete(id);
}
