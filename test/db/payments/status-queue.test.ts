// The queue of status queries: what is due is asked once, an answer that decides nothing costs next to nothing, and one that decides counts.
import assert from 'node:assert/strict';
import { startStatusQueue } from '../../../activities/status-queue.ts';
import type { Queryable, Statement } from '../../../src/db/platform/database.ts';
import { getCollection } from '../../../src/db/payments/collection.ts';
import { beginQuery } from '../../../src/db/payments/payment-progress.ts';
import { listExchanges } from '../../../src/db/payments/operator-exchange.ts';
import { claimQueries, finishQueries } from '../../../src/db/work/status-queries.ts';
import { newId, type CollectionId, type MerchantId } from '../../../src/domain/ids.ts';
import { PAYMENT_KINDS } from '../../../src/domain/payments/payment.ts';
import type { SentPayment, StatusOutcome } from '../../../src/operators/port.ts';
import { testLog } from '../../support/engines.ts';
import { ALL_PERMITTED, queryWhatIsDue, workerDeps } from '../../support/payment-activities.ts';
import { eventually } from '../../support/test-environment.ts';
import { valuesOf } from '../../support/values-of.ts';
import { makeCollection, makeMerchant, oneRow, tamper, TEST_CLOCKS } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';
import { findWork } from '../work-rows.ts';

const MINUTE = 60_000;
const CLAIM = { limit: 100, kinds: PAYMENT_KINDS, leaseMs: MINUTE, gapMs: 0 };
const PENDING: StatusOutcome = { kind: 'pending' };

describe('the queue of status queries', () => {
  const db = useDatabasePerCase();
  let merchantId: MerchantId;
  let asked: string[];
  let answer: (reference: string) => Promise<StatusOutcome>;

  beforeEach(async () => {
    merchantId = await makeMerchant(db);
    asked = [];
    answer = () => Promise.resolve(PENDING);
  });

  const deps = (given: object = {}) =>
    workerDeps(db, {
      operators: {
        'mtn-momo': {
          getCollectionStatus({ operatorReference }: SentPayment) {
            asked.push(operatorReference);
            return answer(operatorReference);
          },
        },
      },
      clocks: { ...TEST_CLOCKS, pollScheduleMs: [MINUTE], minimumQueryGapMs: 0, promptWindowMs: 10 * MINUTE },
      ...given,
    });
  const start = (given: object = {}) => {
    const all = { queues: db, calls: ALL_PERMITTED, maxInFlight: () => 10, ...deps(given) };
    return startStatusQueue(all as unknown as Parameters<typeof startStatusQueue>[0]);
  };
  const prompted = (of = merchantId) => makeCollection(db, of, 'prompted');
  const makeDue = () => tamper(db, `UPDATE work SET due_at = now() - interval '1 second' WHERE task = 'status_query'`);
  const queriesOf = (id: string) =>
    oneRow<{ queries: number; due_at: Date; queried_at: Date; claimed_until: Date | null }>(
      db,
      `SELECT queries, due_at, queried_at, claimed_until FROM work WHERE id = $1 AND task = 'status_query'`,
      [id],
    );
  const stateOf = async (id: string) =>
    (await oneRow<{ state: string }>(db, 'SELECT state FROM payments WHERE id = $1', [id])).state;
  const paid = (receipt: string): StatusOutcome => ({
    kind: 'succeeded',
    receipt,
    paid: { amount: '5000', currency: 'UGX' },
  });
  const exchangesOf = (id: CollectionId) => listExchanges(db, [id], 10);

  it('moves the time and counts, and does nothing else, when an answer decides nothing', async () => {
    const { id } = await prompted();
    const before = await findWork(db, id);
    const exchanges = await exchangesOf(id);
    for (let queries = 1; queries <= 2; queries++) {
      await makeDue();
      await queryWhatIsDue(db, deps());
      const row = await queriesOf(id);
      assert.deepEqual([row.queries, row.claimed_until, asked.length], [queries, null, queries]);
      const inMs = row.due_at.getTime() - Date.now();
      assert.ok(inMs > MINUTE / 2 && inMs <= MINUTE, String(inMs));
    }
    assert.deepEqual(await exchangesOf(id), exchanges);
    assert.deepEqual(await findWork(db, id), before, 'its workflow is told nothing');
  });

  it('ends many answers that decide nothing by one statement, and claims many by one', async () => {
    for (let i = 0; i < 4; i++) await prompted();
    await makeDue();
    // All answers come at one moment, whatever the machine does meanwhile.
    let tellAll: ((outcome: StatusOutcome) => void)[] = [];
    answer = () =>
      new Promise((resolve) => {
        tellAll = [...tellAll, resolve];
        if (tellAll.length === 4) for (const tell of tellAll) tell(PENDING);
      });
    const ran: string[] = [];
    const counted: Queryable = {
      ...db,
      run(statement: Statement, values) {
        ran.push(statement.name);
        return db.run(statement, values);
      },
    };
    await start({ queues: { ...db, ...counted } }).stop();
    assert.equal(asked.length, 4);
    assert.deepEqual(
      ran.filter((name) => name.startsWith('status_query')),
      ['status_query_count_due', 'status_query_claim', 'status_query_finish'],
    );
  });

  it('records an answer that decides, with its exchange, and has the workflow told', async () => {
    const { id } = await prompted();
    await makeDue();
    answer = (reference) => Promise.resolve(paid(reference));
    await queryWhatIsDue(db, deps());
    assert.equal(await stateOf(id), 'succeeded');
    assert.deepEqual(valuesOf(await exchangesOf(id), 'outcome').at(-1), 'succeeded');
    assert.equal((await findWork(db, id))?.isStarted, false);
    assert.ok((await queriesOf(id)).due_at > new Date(), 'its money may still be returned');
  });

  it('ends a prompt at its deadline by a query that began after it, and not by itself', async () => {
    const { id } = await prompted();
    await tamper(db, 'UPDATE payments SET prompt_expires_at = now() WHERE id = $1', [id]);
    await makeDue();
    await queryWhatIsDue(db, deps());
    assert.equal(await stateOf(id), 'reconciling');
    assert.equal((await findWork(db, id))?.isStarted, false);
  });

  it('puts off what is due while the operator is unavailable: nothing counts as asked, and nobody is told', async () => {
    const { id } = await prompted();
    await makeDue();
    const before = await findWork(db, id);
    const held = [{ kinds: ['collection'], waitMs: 10 * MINUTE }];
    await start({ calls: { permitQueries: () => Promise.resolve({ groups: [], held }) } }).stop();
    const row = await queriesOf(id);
    assert.deepEqual([asked, row.queries, row.queried_at, row.claimed_until], [[], 0, null, null]);
    assert.ok(row.due_at.getTime() > Date.now() + 9 * MINUTE);
    assert.deepEqual(await findWork(db, id), before);
    assert.equal(await stateOf(id), 'prompted');
  });

  it('shows a payment at its deadline as reconciling while the operator is unavailable, and counts nothing against it', async () => {
    const { id } = await prompted();
    await tamper(db, 'UPDATE payments SET prompt_expires_at = now() WHERE id = $1', [id]);
    await tamper(db, `UPDATE work SET due_at = now(), priority = 0 WHERE id = $1 AND task = 'status_query'`, [id]);
    const held = [{ kinds: ['collection'], waitMs: 10 * MINUTE }];
    await start({ calls: { permitQueries: () => Promise.resolve({ groups: [], held }) } }).stop();
    assert.deepEqual([asked, await stateOf(id)], [[], 'reconciling']);
  });

  it('asks once about each payment when several processes claim at once', async () => {
    for (let i = 0; i < 30; i++) await prompted();
    await makeDue();
    const queues = [start(), start(), start()];
    await eventually('all to be asked', () => asked.length >= 30);
    await Promise.all(queues.map((queue) => queue.stop()));
    assert.deepEqual([asked.length, new Set(asked).size], [30, 30]);
  });

  it('asks again when a process died between asking and recording, once its claim has ended', async () => {
    const { id, operatorReference } = await prompted();
    await makeDue();
    assert.equal((await claimQueries(db, 'mtn-momo', CLAIM)).length, 1);
    await queryWhatIsDue(db, deps());
    assert.deepEqual(asked, [], 'the claim stands');
    await tamper(db, `UPDATE work SET claimed_until = now() WHERE task = 'status_query'`);
    answer = (reference) => Promise.resolve(paid(reference));
    await queryWhatIsDue(db, deps());
    assert.deepEqual([asked, await stateOf(id)], [[operatorReference], 'succeeded']);
  });

  it('records once what two processes were told, when a claim ended in the middle', async () => {
    const { id } = await prompted();
    await makeDue();
    let tell: (outcome: StatusOutcome) => void = () => undefined;
    answer = () => new Promise((resolve) => (tell = resolve));
    const slow = start();
    await eventually('the first query', () => asked.length === 1);
    await tamper(db, `UPDATE work SET claimed_until = now() WHERE task = 'status_query'`);
    const tellSlow = tell;
    answer = (reference) => Promise.resolve(paid(reference));
    await queryWhatIsDue(db, deps());
    const after = await queriesOf(id);
    tellSlow(PENDING);
    await slow.stop();
    assert.deepEqual(await queriesOf(id), after, 'the late answer moves nothing');
    const { rowCount } = await db.pool.query(`SELECT FROM events WHERE payment_id = $1 AND type LIKE '%succeeded'`, [
      id,
    ]);
    assert.deepEqual([await stateOf(id), rowCount, asked.length], ['succeeded', 1, 2]);
  });

  it('leaves the minimum gap after a query of a workflow, and the workflow after one of the queue', async () => {
    const { id } = await prompted();
    const gapMs = MINUTE;
    const begin = (of: CollectionId) => beginQuery(db, { kind: 'collection', merchantId, id: of }, gapMs);
    const first = await begin(id);
    assert.deepEqual([first.waitMs, first.payment], [0, await getCollection(db, merchantId, id)]);
    await makeDue();
    assert.deepEqual(await claimQueries(db, 'mtn-momo', { ...CLAIM, gapMs }), []);
    await tamper(db, `UPDATE work SET queried_at = now() - interval '1 minute' WHERE id = $1`, [id]);
    assert.equal((await claimQueries(db, 'mtn-momo', { ...CLAIM, gapMs })).length, 1);
    const { waitMs } = await begin(id);
    assert.ok(waitMs > gapMs / 2 && waitMs <= gapMs, String(waitMs));
    const unsent = await makeCollection(db, merchantId, 'initiated');
    assert.equal((await begin(unsent.id)).waitMs, 0, 'the operator does not have it yet');
    await assert.rejects(begin(newId('col')), { code: 'collection_not_found' });
  });

  it('asks first what is at a deadline, then pending payments, then final ones, and each merchant in turn', async () => {
    const many = await Promise.all(Array.from({ length: 12 }, () => prompted()));
    const other = await prompted(await makeMerchant(db));
    const final = await makeCollection(db, await makeMerchant(db), 'succeeded');
    await tamper(db, `UPDATE work SET due_at = now() - interval '1 hour' WHERE task = 'status_query'`);
    await tamper(db, `UPDATE work SET due_at = now() - interval '1 minute' WHERE id = $1`, [other.id]);
    await tamper(db, `UPDATE work SET priority = 0, due_at = now() WHERE id = $1 AND task = 'status_query'`, [
      many[11]!.id,
    ]);
    const claim = async () => (await claimQueries(db, 'mtn-momo', { ...CLAIM, limit: 6 })).map(({ id }) => id);
    const first = await claim();
    assert.ok(first.includes(many[11]!.id) && first.includes(other.id), 'a merchant with many delays no other');
    const rest: string[] = [];
    for (let claimed = first; claimed.length > 0; claimed = await claim()) rest.push(...claimed);
    assert.ok(rest.includes(final.id));
    assert.equal(rest.length, 14);
  });

  it('asks again after the time of a failure of ours, which is logged, and holds up no other payment', async () => {
    const [failing, other] = [await prompted(), await prompted()];
    await makeDue();
    const logged: unknown[] = [];
    const log = { ...testLog, error: (fields: unknown) => logged.push(fields) };
    answer = (reference) =>
      reference === failing.operatorReference ? Promise.reject(new Error('for a test')) : Promise.resolve(PENDING);
    await queryWhatIsDue(db, deps({ log }));
    assert.deepEqual(valuesOf(logged as { id: string }[], 'id'), [failing.id]);
    for (const { id } of [failing, other]) assert.ok((await queriesOf(id)).due_at > new Date());
  });

  it('is not misled by a clock of its process: what is due next follows from that of the database', async () => {
    const { id } = await prompted();
    await makeDue();
    const [query] = await claimQueries(db, 'mtn-momo', CLAIM);
    assert.ok(query);
    const dueAt = new Date(query.claimedAt.getTime() + MINUTE);
    await finishQueries(db, [{ query, next: { dueAt, priority: null } }]);
    const row = await queriesOf(id);
    assert.deepEqual([row.due_at, row.claimed_until], [dueAt, null]);
  });
});
