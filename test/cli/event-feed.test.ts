// Tests the feed behind `malipo listen` with events whose transactions commit in another order than they began.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { EventRow } from '../../src/cli/responses.ts';
import { createEventFeed, OVERLAP_MS, type EventPoll } from '../../src/cli/event-feed.ts';

/** An event, and when its transaction commits. */
type TimedEvent = { readonly createdAtMs: number; readonly visibleAtMs: number };

function rowOf({ createdAtMs }: TimedEvent, n: number): EventRow {
  const createdAt = new Date(createdAtMs).toISOString();
  return {
    id: `evt_${String(n).padStart(6, '0')}`,
    type: 'collection.succeeded',
    created_at: createdAt,
    object_id: 'col_1',
  };
}

/** The service's list at `nowMs`, newest first, and the times from which it was polled. */
function listOf(created: readonly TimedEvent[]) {
  const polledFrom: (Date | null)[] = [];
  const poll =
    (nowMs: number) =>
    (from: Date | null): Promise<EventPoll> => {
      polledFrom.push(from);
      const since = from ?? new Date(nowMs - OVERLAP_MS);
      const events = created
        .map((each, n) => ({ ...each, row: rowOf(each, n) }))
        .filter(({ createdAtMs, visibleAtMs }) => visibleAtMs <= nowMs && createdAtMs >= since.getTime())
        .map(({ row }) => row)
        .reverse();
      return Promise.resolve({ events, polledAt: new Date(nowMs) });
    };
  return { polledFrom, poll };
}

describe('the event feed', () => {
  const START = Date.UTC(2026, 0, 1);

  /** Polls at these times; returns the events of each poll. */
  async function follow(created: readonly TimedEvent[], pollsAtMs: readonly number[], since: Date | null = null) {
    const list = listOf(created);
    let nowMs = 0;
    const feed = createEventFeed((from) => list.poll(nowMs)(from), since);
    const given: string[][] = [];
    for (nowMs of pollsAtMs) given.push((await feed.next()).map(({ id }) => id));
    return { given, polledFrom: list.polledFrom };
  }

  it('begins with the events after the first poll', async () => {
    const created = [
      { createdAtMs: START - 5000, visibleAtMs: START - 5000 },
      { createdAtMs: START + 500, visibleAtMs: START + 500 },
    ];
    assert.deepEqual((await follow(created, [START, START + 1000, START + 2000])).given, [[], ['evt_000001'], []]);
  });

  it('returns an event that was created before another one and becomes visible after it', async () => {
    const created = [
      { createdAtMs: START + 100, visibleAtMs: START + 30_000 },
      { createdAtMs: START + 200, visibleAtMs: START + 200 },
    ];
    const { given } = await follow(created, [START, START + 1000, START + 30_500, START + 31_000]);
    assert.deepEqual(given, [[], ['evt_000001'], ['evt_000000'], []]);
  });

  it('returns the events created while the service was away, oldest first', async () => {
    const created = [1, 2, 3].map((n) => ({ createdAtMs: START + n * 60_000, visibleAtMs: START + n * 60_000 }));
    const { given } = await follow(created, [START, START + 3_600_000]);
    assert.deepEqual(given, [[], ['evt_000000', 'evt_000001', 'evt_000002']]);
  });

  it('begins at the requested time and leaves out earlier events', async () => {
    const created = [-60_000, -20_000, -5000].map((ms) => ({ createdAtMs: START + ms, visibleAtMs: START + ms }));
    const { given } = await follow(created, [START, START + 1000], new Date(START - 20_000));
    assert.deepEqual(given, [['evt_000001', 'evt_000002'], []]);
  });

  it('returns the events of a failed poll with the next one', async () => {
    const created = [{ createdAtMs: START + 500, visibleAtMs: START + 500 }];
    const list = listOf(created);
    let isAway = false;
    let nowMs = START;
    const feed = createEventFeed((from) => (isAway ? Promise.reject(new Error('away')) : list.poll(nowMs)(from)), null);
    assert.deepEqual(await feed.next(), []);
    [isAway, nowMs] = [true, START + 1000];
    await assert.rejects(feed.next(), /away/);
    [isAway, nowMs] = [false, START + 900_000];
    assert.equal((await feed.next()).length, 1);
  });

  it('returns each event once, whenever it commits within the overlap and whenever the feed polls', () => {
    const event = fc.record({ atMs: fc.nat(600_000), takesMs: fc.nat(OVERLAP_MS - 1) });
    const gaps = fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 12 });
    return fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), gaps, async (events, waits) => {
        const created = events.map(({ atMs, takesMs }) => ({
          createdAtMs: START + atMs,
          visibleAtMs: START + atMs + takesMs,
        }));
        const polls = [START - 1];
        for (const wait of waits) polls.push(polls.at(-1)! + wait);
        const { given } = await follow(created, polls);
        const due = created.flatMap(({ visibleAtMs }, n) =>
          visibleAtMs <= polls.at(-1)! ? [`evt_${String(n).padStart(6, '0')}`] : [],
        );
        assert.deepEqual(given.flat().sort(), due);
      }),
    );
  });

  it('polls no further back than the overlap before its last poll', async () => {
    const { polledFrom } = await follow([], [START, START + 1000, START + 900_000]);
    assert.deepEqual(polledFrom, [null, new Date(START - OVERLAP_MS), new Date(START + 1000 - OVERLAP_MS)]);
  });
});
