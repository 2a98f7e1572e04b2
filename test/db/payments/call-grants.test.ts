// Grants of calls to an operator: all processes share so many a second, and what is urgent goes first.
import assert from 'node:assert/strict';
import { createCallGrants, type CallGrants } from '../../../activities/call-grants.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { ensureGrants, takeGrants } from '../../../src/db/work/call-grants.ts';
import { testLog } from '../../support/engines.ts';
import { useDatabasePerCase } from '../use-database.ts';

const OPERATOR = 'mtn-momo';
const LONG_MS = 60_000;

describe('the grants of calls to an operator', () => {
  const db = useDatabasePerCase();
  const grantsOf = (perSecond: number, of: Database = db): CallGrants =>
    createCallGrants({ db: of, operators: [OPERATOR], perSecond: () => perSecond, log: testLog });
  /** As if the clock of the database stood in a second of which so many calls are granted. */
  const holdSecond = (taken: number) =>
    db.pool.query(`UPDATE call_grants SET second = date_trunc('second', now()) + interval '1 hour', taken = $1`, [
      taken,
    ]);

  it('are as many in a second as all processes may make, however many ask at once', async () => {
    await ensureGrants(db, OPERATOR);
    const asked = Array.from({ length: 40 }, () => takeGrants(db, OPERATOR, { wanted: 3, ceiling: 50 }));
    const taken = await Promise.all(asked);
    const { rows } = await db.pool.query<{ taken: number }>('SELECT taken FROM call_grants');
    const perSecond = rows[0]?.taken ?? 0;
    const count = taken.reduce((sum, one) => sum + one.count, 0);
    // Forty takers may need more than one second.
    assert.ok(perSecond <= 50 && count >= 50 && count <= 120, `${perSecond} of ${count}`);
    assert.ok(taken.every((one) => one.count <= 3 && one.endsInMs <= 1000));
  });

  it('are refused, and nothing is thrown, while the clock of the database is behind what was granted', async () => {
    await ensureGrants(db, OPERATOR);
    await holdSecond(0);
    assert.deepEqual(await takeGrants(db, OPERATOR, { wanted: 1, ceiling: 50 }), {
      count: 0,
      endsInMs: 0,
      breakers: [],
    });
    assert.equal(await grantsOf(50).take(OPERATOR, 'send', 100), false);
    assert.equal(await grantsOf(50).takeForQueries(OPERATOR, 5), 0);
  });

  it('are left to sends and to queries after callbacks where queries by schedule have taken their part', async () => {
    const grants = grantsOf(1000);
    let scheduled = 0;
    for (let part = -1; part !== 0; scheduled += part) part = await grants.takeForQueries(OPERATOR, 1000);
    assert.ok(scheduled >= 749, String(scheduled));
    assert.ok(await grants.take(OPERATOR, 'callback_query', LONG_MS));
    assert.ok(await grants.take(OPERATOR, 'send', LONG_MS));
  });

  it('go to sends first, and then to whatever waits longer, and to no query by schedule while others wait', async () => {
    const grants = grantsOf(50);
    await ensureGrants(db, OPERATOR);
    await holdSecond(0);
    const order: string[] = [];
    const take = (name: string, use: 'send' | 'callback_query') =>
      grants.take(OPERATOR, use, LONG_MS).then(() => order.push(name));
    const all = [
      take('first query', 'callback_query'),
      take('second query', 'callback_query'),
      take('first send', 'send'),
      take('second send', 'send'),
    ];
    assert.equal(await grants.takeForQueries(OPERATOR, 5), 0);
    await db.pool.query('TRUNCATE call_grants');
    await ensureGrants(db, OPERATOR);
    await Promise.all(all);
    assert.deepEqual(order, ['first send', 'second send', 'first query', 'second query']);
  });

  it('are none of an operator that does not exist', async () => {
    const unknown = 'nobody' as typeof OPERATOR;
    assert.equal(await grantsOf(50).take(unknown, 'send', LONG_MS), false);
    assert.equal(await grantsOf(50).takeForQueries(unknown, 5), 0);
  });

  it('are none while the database is unavailable, and nothing is thrown', async () => {
    const away = { ...db, run: () => Promise.reject(new Error('the database is unavailable')) };
    assert.equal(await grantsOf(50, away).take(OPERATOR, 'send', 100), false);
    assert.equal(await grantsOf(50, away).takeForQueries(OPERATOR, 5), 0);
  });
});
