// Breakers of operators: opened by trouble in a row, half-open for one call of all processes, closed by one answer, and by staff.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOperatorCalls, type OperatorCalls, type Permission } from '../../../activities/operator-calls.ts';
import { beginProbe, endProbe, findOpenBreaker, listOpenBreakers, openBreaker } from '../../../src/db/work/breakers.ts';
import type { Queryable } from '../../../src/db/platform/database.ts';
import { TROUBLES_TO_OPEN, type Product, type Trouble } from '../../../src/domain/payments/breaker.ts';
import type { PaymentKind } from '../../../src/domain/payments/payment.ts';
import { changeBreaker } from '../../../src/operations/payments/change-breaker.ts';
import type { SendOutcome } from '../../../src/operators/port.ts';
import { testLog } from '../../support/engines.ts';
import { AMINA } from '../../support/staff.ts';
import { valuesOf } from '../../support/values-of.ts';
import { oneRow, tamper, TEST_CLOCKS } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';

const OPERATOR = 'mtn-momo';
const HOUR = 3_600_000;
const ACCEPTED: SendOutcome = { kind: 'accepted' };
const UNREADABLE: SendOutcome = { kind: 'unknown', reason: 'http 500' };
const trouble = (cause: Trouble): SendOutcome => ({ kind: 'unknown', reason: `of the test: ${cause}`, cause });

describe('the breaker of an operator', () => {
  const db = useDatabasePerCase();
  let nowMs = 0;

  /** The calls of one process; all of a test share a clock, which stands still unless the test moves it. */
  const processOf = (of: Queryable = db): OperatorCalls =>
    createOperatorCalls({
      db: of as typeof db,
      operators: [OPERATOR],
      perSecond: () => 1000,
      clocks: { ...TEST_CLOCKS, operatorTimeoutMs: HOUR, breakerPausesMs: [HOUR, 2 * HOUR] },
      log: testLog,
      nowMs: () => nowMs,
    });
  const ask = (calls: OperatorCalls, kind: PaymentKind = 'payout'): Promise<Permission> =>
    calls.permit(OPERATOR, { kind, use: 'send', waitMs: 10_000 });
  async function call(calls: OperatorCalls, outcome: SendOutcome, kind?: PaymentKind): Promise<Permission['kind']> {
    const permit = await ask(calls, kind);
    if (permit.kind !== 'granted') return permit.kind;
    await permit.answered(outcome);
    await permit.end();
    return 'granted';
  }
  async function open(calls: OperatorCalls, cause: Trouble = 'busy'): Promise<void> {
    for (let n = 0; n < TROUBLES_TO_OPEN; n++) assert.equal(await call(calls, trouble(cause)), 'granted');
  }
  /** The pause is over, and every process looks again. */
  async function endPause(): Promise<void> {
    await tamper(db, 'UPDATE breakers SET retry_at = now()');
    nowMs += 2000;
  }
  const breaker = (product: Product = 'disbursement') =>
    oneRow<{ state: string; pauses: number; pause_s: number }>(
      db,
      'SELECT state, pauses, round(extract(epoch FROM retry_at - changed_at))::int AS pause_s FROM breakers WHERE product = $1',
      [product],
    );

  it('lets one query by schedule through after its pause, and has those of its other payments wait', async () => {
    const calls = processOf();
    await open(calls);
    await endPause();
    const { groups, held } = await calls.permitQueries(OPERATOR, 5);
    assert.deepEqual(
      groups.map(({ count, kinds }) => [count, kinds]),
      [
        [1, ['payout', 'reversal']],
        [5, ['collection']],
      ],
    );
    assert.deepEqual(held, []);
    const permit = groups[0]?.permitOf('payout');
    assert.deepEqual(
      (await calls.permitQueries(OPERATOR, 5)).held.map(({ kinds }) => kinds),
      [['payout', 'reversal']],
    );
    await permit?.answered({ kind: 'pending' });
    assert.equal((await breaker()).state, 'closed');
  });

  beforeEach(() => {
    nowMs = 10_000;
  });

  for (const cause of ['busy', 'account', 'no_answer'] as const) {
    it(`opens after so many calls in a row that had trouble (${cause}), and then nobody calls`, async () => {
      const calls = processOf();
      for (let n = 1; n < TROUBLES_TO_OPEN; n++) await call(calls, trouble(cause));
      assert.deepEqual(await listOpenBreakers(db), []);
      await call(calls, trouble(cause));
      const [found] = await listOpenBreakers(db);
      assert.deepEqual(
        [found?.operator, found?.product, found?.state, found?.cause, found?.reason],
        [OPERATOR, 'disbursement', 'open', cause, `of the test: ${cause}`],
      );
      const away = await ask(calls);
      assert.ok(away.kind === 'away' && away.waitMs > HOUR - 60_000 && away.breaker.cause === cause);
      assert.equal((await ask(processOf())).kind, 'away', 'nor does another process');
    });
  }

  it('is of one product: the other is called as before', async () => {
    const calls = processOf();
    await open(calls);
    assert.equal(await call(calls, ACCEPTED, 'collection'), 'granted');
    assert.equal(await call(calls, ACCEPTED, 'reversal'), 'away');
  });

  it('stays closed where a good answer comes in between, and is not closed by one that says nothing', async () => {
    const calls = processOf();
    for (let n = 1; n < TROUBLES_TO_OPEN; n++) await call(calls, trouble('busy'));
    await call(calls, ACCEPTED);
    for (let n = 1; n < TROUBLES_TO_OPEN; n++) await call(calls, trouble('busy'));
    await call(calls, UNREADABLE);
    assert.deepEqual(await listOpenBreakers(db), []);
    await call(calls, trouble('busy'));
    assert.equal((await breaker()).state, 'open');
  });

  it('is never opened by answers that cannot be used and say nothing of the operator as a whole', async () => {
    const calls = processOf();
    for (let n = 0; n < 3 * TROUBLES_TO_OPEN; n++) assert.equal(await call(calls, UNREADABLE), 'granted');
    assert.deepEqual(await listOpenBreakers(db), []);
  });

  it('uses up no grants while it is open', async () => {
    const calls = processOf();
    await open(calls);
    await openBreaker(db, OPERATOR, 'collection', { cause: 'busy', reason: 'x', pauseMs: HOUR });
    // It learns of the other one when it takes a grant: the earlier ones have ended.
    nowMs += 2000;
    await ask(calls, 'collection');
    await tamper(db, 'TRUNCATE call_grants');
    for (let n = 0; n < 20; n++) {
      for (const kind of ['collection', 'payout'] as const) assert.equal((await ask(calls, kind)).kind, 'away');
      const { groups, held } = await calls.permitQueries(OPERATOR, 5);
      assert.deepEqual([groups, held.flatMap(({ kinds }) => kinds)], [[], ['collection', 'payout', 'reversal']]);
    }
    assert.equal((await db.pool.query('SELECT 1 FROM call_grants')).rowCount, 0);
  });

  it('grants each further call of one query by itself, and none while it is not closed', async () => {
    // Each grant that was taken ahead is over before the next call.
    const granted = (permission: Permission) => {
      nowMs += 2000;
      return permission.kind === 'granted' && permission.mayCallAgain();
    };
    const ran: string[] = [];
    const calls = processOf({
      ...db,
      run(statement, values) {
        if (statement.name === 'call_grants_take') ran.push(statement.name);
        return db.run(statement, values);
      },
    });
    const permit = await ask(calls, 'collection');
    for (let n = 0; n < 3; n++) assert.equal(await granted(permit), true);
    assert.equal(ran.length, 4);
    await openBreaker(db, OPERATOR, 'collection', { cause: 'busy', reason: 'x', pauseMs: HOUR });
    await ask(calls, 'collection');
    assert.equal(await granted(permit), false);
    await endPause();
    const probe = await ask(calls, 'collection');
    assert.deepEqual([probe.kind, await granted(probe)], ['granted', false]);
  });

  it('costs no statement but that which takes grants while it is closed', async () => {
    const ran: string[] = [];
    const counted: Queryable = {
      ...db,
      run(statement, values) {
        ran.push(statement.name);
        return db.run(statement, values);
      },
    };
    const calls = processOf(counted);
    for (let n = 0; n < 10; n++) await call(calls, n % 2 === 0 ? ACCEPTED : trouble('busy'));
    assert.deepEqual([...new Set(ran)].sort(), ['call_grants_insert', 'call_grants_take']);
  });

  it('lets exactly one call through after its pause, in all processes together', async () => {
    const processes = [processOf(), processOf(), processOf()];
    await open(processes[0]!);
    for (const calls of processes) await ask(calls);
    await endPause();
    const asked = await Promise.all(processes.flatMap((calls) => Array.from({ length: 5 }, () => ask(calls))));
    assert.equal(asked.filter(({ kind }) => kind === 'granted').length, 1);
    assert.equal((await breaker()).state, 'half_open');
  });

  it('is closed by one good answer of that call, and opened for a longer pause by trouble', async () => {
    const calls = processOf();
    await open(calls);
    assert.deepEqual(await breaker(), { state: 'open', pauses: 1, pause_s: 3600 });
    for (const pauses of [2, 3]) {
      await endPause();
      assert.equal(await call(calls, trouble('no_answer')), 'granted');
      assert.deepEqual(await breaker(), { state: 'open', pauses, pause_s: 7200 });
      assert.equal(await call(calls, ACCEPTED), 'away');
    }
    await endPause();
    assert.equal(await call(calls, ACCEPTED), 'granted');
    assert.equal((await breaker()).state, 'closed');
    assert.equal(await call(calls, ACCEPTED), 'granted');
  });

  it('is closed by any answer that has no such trouble: one payment that cannot be read keeps no others waiting', async () => {
    const calls = processOf();
    await open(calls);
    await endPause();
    await call(calls, UNREADABLE);
    assert.equal((await breaker()).state, 'closed');
  });

  /** A breaker that lets one call through, which is not made yet. */
  async function halfOpen() {
    const calls = processOf();
    await open(calls);
    await endPause();
    const permit = await ask(calls);
    assert.ok(permit.kind === 'granted');
    return { calls, permit };
  }

  it('lets another call through at once where the one that it let through was not made', async () => {
    const { calls, permit } = await halfOpen();
    await permit.end();
    nowMs += 2000;
    assert.equal(await call(calls, ACCEPTED), 'granted');
    assert.equal((await breaker()).state, 'closed');
  });

  it('is half-open no longer than the lease of a call whose process died, and takes no late word of it', async () => {
    await openBreaker(db, OPERATOR, 'disbursement', { cause: 'busy', reason: 'x', pauseMs: 0 });
    const lost = await beginProbe(db, OPERATOR, 'disbursement', 0);
    assert.ok(lost !== null);
    await sleep(5);
    const next = await beginProbe(db, OPERATOR, 'disbursement', HOUR);
    assert.equal(next?.number, lost.number + 1);
    const end = (number: number, found: Parameters<typeof endProbe>[3]['found']) =>
      endProbe(db, OPERATOR, 'disbursement', { number, found });
    for (const found of ['answered', 'unused', { cause: 'busy', reason: 'x', pauseMs: 1 }] as const)
      assert.equal(await end(lost.number, found), false);
    assert.equal((await findOpenBreaker(db, OPERATOR, 'disbursement'))?.state, 'half_open');
    assert.equal(await end(next.number, 'answered'), true);
    assert.equal(await findOpenBreaker(db, OPERATOR, 'disbursement'), null);
  });

  it('is not opened again by calls that began before it closed', async () => {
    const calls = processOf();
    const early = await Promise.all(Array.from({ length: 3 * TROUBLES_TO_OPEN }, () => ask(calls)));
    await open(calls);
    await endPause();
    await call(calls, ACCEPTED);
    for (const permit of early) if (permit.kind === 'granted') await permit.answered(trouble('no_answer'));
    assert.equal((await breaker()).state, 'closed');
  });

  it('is opened and closed by staff, which the audit log of the service records, and lets no call through meanwhile', async () => {
    const calls = processOf();
    const change = (reason: string | null) =>
      changeBreaker(db, {
        ...({ operator: OPERATOR, product: 'disbursement', by: AMINA } as const),
        opening: reason === null ? null : { reason },
        at: new Date(),
      });
    assert.equal(await change('maintenance'), 'closed');
    const away = await ask(calls);
    assert.ok(away.kind === 'away' && away.breaker.cause === 'staff' && away.breaker.reason === 'maintenance');
    nowMs += HOUR;
    assert.equal(await call(calls, ACCEPTED), 'away', 'it has no pause that ends');
    assert.equal(await change(null), 'open');
    nowMs += 2000;
    assert.equal(await call(calls, ACCEPTED), 'granted');
    assert.equal(await change(null), 'closed');
    const { rows } = await db.pool.query<{ action: string; staff: string; subject_id: string; merchant_id: null }>(
      `SELECT action, staff, subject_id, merchant_id FROM audit_entries WHERE action LIKE 'breaker.%' ORDER BY id`,
    );
    assert.deepEqual(valuesOf(rows, 'action'), ['breaker.opened', 'breaker.closed']);
    assert.deepEqual(valuesOf(rows, 'subject_id'), [`${OPERATOR}.disbursement`, `${OPERATOR}.disbursement`]);
    assert.deepEqual(valuesOf(rows, 'merchant_id'), [null, null]);
  });

  it('stays open by staff although a call that it let through before is answered', async () => {
    const { permit } = await halfOpen();
    const by = { operator: OPERATOR, product: 'disbursement', by: AMINA, at: new Date() } as const;
    assert.equal(await changeBreaker(db, { ...by, opening: { reason: 'maintenance' } }), 'half_open');
    await permit.answered(ACCEPTED);
    assert.equal((await findOpenBreaker(db, OPERATOR, 'disbursement'))?.cause, 'staff');
  });

  it('lets nothing through, and nothing is thrown, while the database is unavailable', async () => {
    const calls = processOf({ ...db, run: () => Promise.reject(new Error('the database is unavailable')) });
    assert.equal((await calls.permit(OPERATOR, { kind: 'payout', use: 'send', waitMs: 0 })).kind, 'none');
    assert.deepEqual(await calls.permitQueries(OPERATOR, 5), { groups: [], held: [] });
    const known = processOf();
    await open(known);
    assert.equal((await ask(known)).kind, 'away');
  });

  it('is of no operator that does not exist', async () => {
    const unknown = 'nobody' as typeof OPERATOR;
    assert.equal((await processOf().permit(unknown, { kind: 'payout', use: 'send', waitMs: 0 })).kind, 'none');
    assert.deepEqual(await processOf().permitQueries(unknown, 5), { groups: [], held: [] });
  });
});
