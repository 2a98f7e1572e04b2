// The queues of unstarted work: each row goes to one dispatcher at a time, and no merchant's queue delays another's.
import assert from 'node:assert/strict';
import type { Queryable } from '../../../src/db/platform/database.ts';
import {
  claimUnstarted,
  markStarted,
  postponeStarts,
  type ClaimedWork,
  type PostponedStart,
} from '../../../src/db/work/work.ts';
import { claimLate, markLost, markStuck } from '../../../src/db/work/work-checks.ts';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import type { Work, WorkKind } from '../../../src/domain/work.ts';
import { createRecordedWork, type RecordedWorkOptions } from '../../../src/dispatcher/recorded-work.ts';
import { testLog } from '../../support/engines.ts';
import { eventually } from '../../support/test-environment.ts';
import { makeCollection, makeMerchant, tamper } from '../rows.ts';
import { useDatabase, useDatabasePerCase } from '../use-database.ts';
import { addWorkflowOfFinal, dueOf, findWork, setWork } from '../work-rows.ts';
import { makeShop, queue, release } from './payout-rows.ts';
import { valuesOf } from '../../support/values-of.ts';

const MINUTE = 60_000;
const NOW = { limit: 100, graceMs: 0, leaseMs: MINUTE };

describe('unstarted work', () => {
  const db = useDatabasePerCase();
  let merchantId: MerchantId;

  beforeEach(async () => {
    merchantId = await makeMerchant(db);
  });

  const makeMany = async (count: number, merchant = merchantId) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push((await makeCollection(db, merchant)).id);
    return ids.sort();
  };
  const claim = (claimed: Partial<typeof NOW> = {}, kind: WorkKind = 'collection') =>
    claimUnstarted(db, kind, { ...NOW, ...claimed });
  const mark = (works: readonly ClaimedWork[]) =>
    markStarted(
      db,
      works.map((work) => ({ ...work, checkInMs: MINUTE })),
    );
  const postpone = (works: readonly ClaimedWork[], end: Pick<PostponedStart, 'delayMs' | 'isFailure'>) =>
    postponeStarts(
      db,
      works.map((work) => ({ ...work, ...end })),
    );
  const idsOf = (works: readonly Work[]) => works.map(({ id }) => id as string).sort();
  const failuresOf = async (id: string) => (await findWork(db, id))?.failures;

  it('is claimed by one of several dispatchers, each row once', async () => {
    const ids = await makeMany(40);
    const claims = await Promise.all([1, 2, 3, 4].map(() => claim({ limit: 10 })));
    const claimed = idsOf(claims.flat());
    assert.equal(new Set(claimed).size, claimed.length);
    assert.deepEqual(idsOf([...claims.flat(), ...(await claim())]), ids);
    assert.deepEqual(await claim(), []);
  });

  it('is due again when the lease of a dispatcher that died has ended', async () => {
    const ids = await makeMany(1);
    assert.deepEqual(idsOf(await claim({ leaseMs: 0 })), ids);
    assert.deepEqual(idsOf(await claim()), ids);
    assert.deepEqual(await claim(), []);
  });

  it('is left to the process that recorded it while it is young', async () => {
    const ids = await makeMany(1);
    assert.deepEqual(await claim({ graceMs: MINUTE }), []);
    assert.deepEqual(idsOf(await claim()), ids);
  });

  it('is left to the process that signals a decision while the decision is young', async () => {
    const shop = await makeShop(db, 10_000n);
    const { id } = await queue(db, shop, 1000n);
    await setWork(db, "due_at = now() - interval '1 hour', is_started = true", "kind = 'payout'");
    await release(db, shop.approver, id);
    assert.deepEqual(await claim({ graceMs: MINUTE }, 'payout'), []);
    assert.deepEqual(idsOf(await claim({}, 'payout')), [id]);
  });

  it('is claimed of each merchant in turn, however many rows one of them has', async () => {
    const [one] = await makeMany(1, await makeMerchant(db));
    await makeMany(60);
    await setWork(db, "due_at = now() - interval '1 hour'", 'id <> $1', [one]);
    const claimed = idsOf(await claim({ limit: 10 }));
    assert.ok(claimed.includes(one!), 'the younger row of the other merchant is claimed too');
    assert.ok(claimed.length >= 6 && claimed.length <= 10, `${claimed.length}`);
    assert.equal((await claim({ limit: 10 })).length, 10);
  });

  it('is claimed oldest first within a merchant', async () => {
    const [, second] = await makeMany(3);
    await setWork(db, "due_at = now() - interval '1 hour'", 'id = $1', [second]);
    assert.deepEqual(idsOf(await claim({ limit: 1 })), [second]);
  });

  it('is claimed before that of final payments, whose workflows are told so, however long they have waited', async () => {
    for (let i = 0; i < 3; i++) await addWorkflowOfFinal(db, (await makeCollection(db, merchantId, 'succeeded')).id);
    await setWork(db, "due_at = now() - interval '1 hour'");
    const [id] = await makeMany(1);
    assert.deepEqual(idsOf(await claim({ limit: 1 })), [id]);
    assert.equal((await claim()).length, 3);
  });

  it('waits as long as its failure says, with the failures counted, until its workflow changes it', async () => {
    await makeMany(1);
    await postpone(await claim(), { delayMs: MINUTE, isFailure: true });
    assert.deepEqual(await claim(), []);
    await setWork(db, "due_at = now() - interval '1 minute'");
    const again = await claim();
    assert.deepEqual(valuesOf(again, 'workflowFailures'), [1]);
    await postpone(again, { delayMs: 0, isFailure: false });
    assert.equal((await claim())[0]?.workflowFailures, 1);
  });

  it('is due at once when it is to be started again after a start', async () => {
    const ids = await makeMany(1);
    await mark(await claim());
    await setWork(db, "due_at = now() - interval '1 minute'");
    await markLost(db, await claimLate(db, 'collection', { limit: 1, leaseMs: MINUTE }));
    assert.deepEqual(idsOf(await claim()), ids);
  });

  it('has no failures to start any more once it is started, and keeps those of its runs', async () => {
    const [id] = (await makeMany(1)) as [string];
    const startAfterFailures = async (failures: number) => {
      for (let count = 0; count < failures; count++) await postpone(await claim(), { delayMs: 0, isFailure: true });
      const [work] = await claim();
      await mark([work!]);
      return { ...work!, dueAt: await dueOf(db, id) };
    };
    const work = await startAfterFailures(12);
    assert.equal(await failuresOf(id), 0);
    await db.withTransaction((tx) => markStuck(tx, work, 0));
    await startAfterFailures(2);
    assert.equal(await failuresOf(id), 1);
  });

  it('is not postponed any more once it is started', async () => {
    const [id] = (await makeMany(1)) as [string];
    const claimed = await claim();
    await mark(claimed);
    await postpone(claimed, { delayMs: MINUTE, isFailure: true });
    assert.equal(await failuresOf(id), 0);
  });

  describe('in the hands of a dispatcher', () => {
    type Outcome = 'started' | 'open' | 'away' | Error;
    /** A dispatcher whose Temporal gives each piece of work the outcome that `outcomeOf` says. */
    const dispatcher = (outcomeOf: (work: Work) => Outcome, other: Partial<RecordedWorkOptions['temporal']> = {}) => {
      const offered: string[] = [];
      const recorded = createRecordedWork({
        db,
        temporal: {
          isConnected: () => true,
          ping: () => Promise.resolve(true),
          start: (work) => {
            offered.push(work.id);
            const outcome = outcomeOf(work);
            return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
          },
          ...other,
        },
        batchSize: 10,
        startGraceMs: 0,
        clocks: REAL_CLOCKS,
        log: testLog,
      });
      return {
        offered,
        start: () => recorded.start(),
        isBehind: () => recorded.isBehind(),
        noteStarted: (kind: WorkKind) => {
          recorded.noteStarted(kind);
        },
      };
    };

    it('counts nothing against work while Temporal is unavailable, and is not offered meanwhile', async () => {
      const ids = await makeMany(3);
      const away = dispatcher(() => 'away', { ping: () => Promise.resolve(false) });
      assert.equal(await away.start(), 0);
      assert.equal(await away.start(), 0);
      assert.deepEqual(away.offered.sort(), ids);
      for (const id of ids) assert.equal(await failuresOf(id), 0);
      // Nothing waits for the end of a lease.
      const back = dispatcher(() => 'started');
      assert.equal(await back.start(), 3);
      assert.deepEqual(await claim(), []);
    });

    it('is behind while Temporal is unavailable or a batch is full, so that rechecks wait', async () => {
      await makeMany(15);
      const away = dispatcher(() => 'away', { ping: () => Promise.resolve(false) });
      await away.start();
      assert.equal(away.isBehind(), true);
      const working = dispatcher(() => 'started');
      assert.equal(await working.start(), 10);
      assert.equal(working.isBehind(), true);
      assert.equal(await working.start(), 5);
      assert.equal(working.isBehind(), false);
    });

    it('counts a failure against the work that alone is not started', async () => {
      const [failing, ...others] = await makeMany(3);
      const { start } = dispatcher(({ id }) => (id === failing ? 'away' : 'started'));
      assert.equal(await start(), 2);
      assert.equal(await failuresOf(failing!), 1);
      for (const id of others) assert.equal(await failuresOf(id), 0);
    });

    it('offers work again that Temporal refuses while it takes other work, later each time', async () => {
      const [id] = await makeMany(1);
      const { offered, start } = dispatcher((work) => (work.id === id ? new Error('the id is too long') : 'started'));
      for (let failures = 1; failures <= 3; failures++) {
        await makeMany(1);
        assert.equal(await start(), 2);
        assert.equal(await start(), 0, 'it is not due');
        assert.equal(await failuresOf(id!), failures);
        await setWork(db, "due_at = now() - interval '1 second'");
      }
      assert.equal(offered.filter((other) => other === id).length, 3);
    });

    it('counts nothing against work while Temporal refuses all of it, and is behind', async () => {
      const ids = await makeMany(10);
      const refusing = dispatcher(() => new Error('the namespace has no search attributes'));
      await refusing.start();
      assert.deepEqual(refusing.offered.sort(), ids);
      await refusing.start();
      for (const id of ids) assert.equal(await failuresOf(id), 0);
      assert.equal(refusing.isBehind(), true);
      assert.equal(await dispatcher(() => 'started').start(), 10, 'nothing waits for the end of a backoff');
    });

    it('counts nothing against a kind of work that Temporal refuses altogether, and starts the others', async () => {
      const shop = await makeShop(db, 10_000n);
      await queue(db, shop, 1000n);
      const ids = await makeMany(10);
      const { start, isBehind } = dispatcher(({ kind }) => (kind === 'payout' ? 'started' : new Error('refused')));
      assert.equal(await start(), 1);
      for (const id of ids) assert.equal(await failuresOf(id), 0);
      assert.equal(isBehind(), true);
    });

    it('counts a failure against the only work that is due once Temporal has taken other work', async () => {
      const [id] = await makeMany(1);
      const { start, noteStarted, isBehind } = dispatcher(() => new Error('the id is too long'));
      await start();
      assert.equal(await failuresOf(id!), 0);
      assert.equal(isBehind(), false, 'one piece of work delays no recheck');
      noteStarted('reversal');
      // It is tried again after a pause.
      await eventually('a counted failure', async () => {
        await start();
        return (await failuresOf(id!)) === 1;
      });
    });

    it('starts all other work when one start has no response', async () => {
      const shop = await makeShop(db, 10_000n);
      const { id: payoutId } = await queue(db, shop, 1000n);
      const [id] = await makeMany(1);
      const { offered, start, isBehind } = dispatcher((work) => (work.id === id ? 'away' : 'started'));
      await start();
      assert.deepEqual(offered, [id, payoutId]);
      assert.equal(await failuresOf(id!), 1);
      assert.equal(isBehind(), false);
    });

    it('is offered once by several of them at the same time', async () => {
      const ids = await makeMany(30);
      const several = [1, 2, 3].map(() => dispatcher(() => 'started'));
      await Promise.all(
        several.map(async ({ start }) => {
          while ((await start()) > 0);
        }),
      );
      assert.deepEqual(several.flatMap(({ offered }) => offered).sort(), ids);
    });
  });
});

describe('claiming unstarted work', () => {
  const db = useDatabase();
  const ROWS = 100_000;
  const PART = 10_000;
  const MERCHANTS = 20;

  before(async function () {
    this.timeout(300_000);
    for (let i = 0; i < MERCHANTS; i++) await makeMerchant(db);
    for (let first = 1; first < ROWS; first += PART) {
      await tamper(
        db,
        `INSERT INTO work (id, task, kind, merchant_id, operator, priority, is_started, due_at)
         SELECT 'col_0' || lpad(n::text, 25, '0'), 'workflow', 'collection', m.ids[1 + n % $3::int], 'mtn-momo', 0, false,
           now() - make_interval(secs => n)
         FROM (SELECT array_agg(id) AS ids FROM merchants) m, generate_series($1::int, $2::int) n`,
        [first, first + PART - 1, MERCHANTS],
      );
    }
    await db.pool.query('ANALYZE work');
  });

  it('reads a bounded part of a queue of 100,000', async () => {
    let pages = Infinity;
    const explained: Queryable = {
      attestor: db.attestor,
      announce: () => undefined,
      async run({ text }, values) {
        const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
        const { rows } = await db.pool.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(explain, [
          ...values,
        ]);
        const plan = rows[0]?.['QUERY PLAN'][0].Plan;
        pages = (plan?.['Shared Hit Blocks'] ?? Infinity) + (plan?.['Shared Read Blocks'] ?? Infinity);
        return [];
      },
    };
    await claimUnstarted(explained, 'collection', { ...NOW, limit: 100 });
    // Most of them for writing the hundred rows. To read every row of the queue takes at least one page for each.
    assert.ok(pages < 8000, `it read ${pages} pages`);
    assert.equal((await claimUnstarted(db, 'collection', { ...NOW, limit: 100 })).length, 100);
  });
});
