// The feed behind `malipo listen`: events whose transactions commit in another order than they began.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { EventRow } from '../../src/cli/answers.ts';
import { createEventFeed, OVERLAP_MS, type Look } from '../../src/cli/event-feed.ts';

/** An event, and when it can be seen. */
type Made = { readonly createdAtMs: number; readonly visibleAtMs: number };

function rowOf({ createdAtMs }: Made, n: number): EventRow {
  const createdAt = new Date(createdAtMs).toISOString();
  return {
    id: `evt_${String(n).padStart(6, '0')}`,
    type: 'collection.succeeded',
    created_at: createdAt,
    object_id: 'col_1',
  };
}

/** The service's list at `nowMs`, newest first, and what it was asked for. */
function listOf(made: readonly Made[]) {
  const asked: (Date | null)[] = [];
  const look =
    (nowMs: number) =>
    (from: Date | null): Promise<Look> => {
      asked.push(from);
      const since = from ?? new Date(nowMs - OVERLAP_MS);
      const events = made
        .map((each, n) => ({ ...each, row: rowOf(each, n) }))
        .filter(({ createdAtMs, visibleAtMs }) => visibleAtMs <= nowMs && createdAtMs >= since.getTime())
        .map(({ row }) => row)
        .reverse();
      return Promise.resolve({ events, askedAt: new Date(nowMs) });
    };
  return { asked, look };
}

describe('a feed of events', () => {
  const START = Date.UTC(2026, 0, 1);

  /** Looks at these moments; what each gave. */
  async function follow(made: readonly Made[], looksAtMs: readonly number[], since: Date | null = null) {
    const list = listOf(made);
    let nowMs = 0;
    const feed = createEventFeed((from) => list.look(nowMs)(from), since);
    const given: string[][] = [];
    for (nowMs of looksAtMs) given.push((await feed.next()).map(({ id }) => id));
    return { given, asked: list.asked };
  }

  it('begins with what comes after the first look', async () => {
    const made = [
      { createdAtMs: START - 5000, visibleAtMs: START - 5000 },
      { createdAtMs: START + 500, visibleAtMs: START + 500 },
    ];
    assert.deepEqual((await follow(made, [START, START + 1000, START + 2000])).given, [[], ['evt_000001'], []]);
  });

  it('gives an event that was made before another one and can be seen after it', async () => {
    const made = [
      { createdAtMs: START + 100, visibleAtMs: START + 30_000 },
      { createdAtMs: START + 200, visibleAtMs: START + 200 },
    ];
    const { given } = await follow(made, [START, START + 1000, START + 30_500, START + 31_000]);
    assert.deepEqual(given, [[], ['evt_000001'], ['evt_000000'], []]);
  });

  it('gives what was made while the service was away, oldest first', async () => {
    const made = [1, 2, 3].map((n) => ({ createdAtMs: START + n * 60_000, visibleAtMs: START + n * 60_000 }));
    const { given } = await follow(made, [START, START + 3_600_000]);
    assert.deepEqual(given, [[], ['evt_000000', 'evt_000001', 'evt_000002']]);
  });

  it('begins where it is told to, and not with what was made before', async () => {
    const made = [-60_000, -20_000, -5000].map((ms) => ({ createdAtMs: START + ms, visibleAtMs: START + ms }));
    const { given } = await follow(made, [START, START + 1000], new Date(START - 20_000));
    assert.deepEqual(given, [['evt_000001', 'evt_000002'], []]);
  });

  it('leaves to the next look what one that failed would have found', async () => {
    const made = [{ createdAtMs: START + 500, visibleAtMs: START + 500 }];
    const list = listOf(made);
    let isAway = false;
    let nowMs = START;
    const feed = createEventFeed((from) => (isAway ? Promise.reject(new Error('away')) : list.look(nowMs)(from)), null);
    assert.deepEqual(await feed.next(), []);
    [isAway, nowMs] = [true, START + 1000];
    await assert.rejects(feed.next(), /away/);
    [isAway, nowMs] = [false, START + 900_000];
    assert.equal((await feed.next()).length, 1);
  });

  it('gives each event once, whenever it commits within the overlap and whenever it is looked for', () => {
    const event = fc.record({ atMs: fc.nat(600_000), takesMs: fc.nat(OVERLAP_MS - 1) });
    const gaps = fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 12 });
    return fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), gaps, async (events, waits) => {
        const made = events.map(({ atMs, takesMs }) => ({
          createdAtMs: START + atMs,
          visibleAtMs: START + atMs + takesMs,
        }));
        const looks = [START - 1];
        for (const wait of waits) looks.push(looks.at(-1)! + wait);
        const { given } = await follow(made, looks);
        const due = made.flatMap(({ visibleAtMs }, n) =>
          visibleAtMs <= looks.at(-1)! ? [`evt_${String(n).padStart(6, '0')}`] : [],
        );
        assert.deepEqual(given.flat().sort(), due);
      }),
    );
  });

  it('asks for no more than the overlap beyond its last look', async () => {
    const { asked } = await follow([], [START, START + 1000, START + 900_000]);
    assert.deepEqual(asked, [null, new Date(START - OVERLAP_MS), new Date(START + 1000 - OVERLAP_MS)]);
  });
});
