// As of when housekeeping is done: what a process records, whose clock may be wrong, and what the dispatcher reports.
import assert from 'node:assert/strict';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { attestCheck } from '../../activities/ledger-check-progress.ts';
import { createReconciliationActivities } from '../../activities/reconciliation.ts';
import { listHousekeeping, markDone } from '../../src/db/platform/housekeeping.ts';
import { createDispatchReport } from '../../src/dispatcher/dispatch-report.ts';
import type { HousekeepingTask } from '../../src/domain/housekeeping.ts';
import { availableAccount } from '../../src/domain/payments/ledger.ts';
import { LEDGER_CHECK_START } from '../../src/operations/payments/check-ledger.ts';
import { testLog } from '../support/engines.ts';
import { KEY_RING, makeCollection, makeMerchant, tamper, TEST_CLOCKS } from './rows.ts';
import { useDatabasePerCase } from './use-database.ts';

const HOUR_MS = 3_600_000;

describe('housekeeping', () => {
  const db = useDatabasePerCase();

  async function doneAsOf(task: HousekeepingTask): Promise<Date | null> {
    return (await listHousekeeping(db)).find((each) => each.task === task)?.doneAsOf ?? null;
  }
  const agoOf = (date: Date | null) => Date.now() - Number(date);

  it('is done as of the latest time that a process recorded, with the faults of that one', async () => {
    const [earlier, later] = [new Date(Date.now() - HOUR_MS), new Date(Date.now() - 1000)];
    assert.equal(await doneAsOf('ledger_check'), null);
    await markDone(db, { task: 'ledger_check', doneAsOf: earlier, faults: 0 });
    await markDone(db, { task: 'ledger_check', doneAsOf: later, faults: 2 });
    await markDone(db, { task: 'ledger_check', doneAsOf: earlier, faults: 0 });
    assert.deepEqual(await listHousekeeping(db), [{ task: 'ledger_check', doneAsOf: later, faults: 2 }]);
  });

  it('is done as of no later time than the database’s own, whatever the clock of a process', async () => {
    await markDone(db, { task: 'purge', doneAsOf: new Date(Date.now() + HOUR_MS), faults: 0 });
    assert.ok(agoOf(await doneAsOf('purge')) > -HOUR_MS / 2);
  });

  it('is reported by the dispatcher: as of its last passes, and of the status query that has waited longest', async () => {
    const report = () => createDispatchReport({ db, operators: ['mtn-momo'] });
    const doneAt = new Date(Date.now() - 1000);
    await report().run(doneAt);
    assert.deepEqual(await doneAsOf('dispatch'), doneAt);
    assert.ok(agoOf(await doneAsOf('status_queries')) < HOUR_MS / 2, 'none waits');

    const merchantId = await makeMerchant(db);
    const { id } = await makeCollection(db, merchantId, 'expired');
    await report().run(new Date());
    assert.ok(agoOf(await doneAsOf('status_queries')) < HOUR_MS / 2, 'the query is not due yet');

    const dueAt = new Date();
    await db.pool.query('UPDATE work SET due_at = $2 WHERE id = $1', [id, dueAt]);
    await report().run(new Date());
    const queriesAsOf = await doneAsOf('status_queries');
    assert.ok(queriesAsOf !== null && queriesAsOf <= dueAt, 'it waits since then, and nobody asks');
  });

  it('begins the ledger check again if its recorded progress is unattested', async () => {
    const merchantId = await makeMerchant(db);
    await makeCollection(db, merchantId, 'succeeded');
    await tamper(db, 'UPDATE ledger_accounts SET balance_minor = balance_minor + 1 WHERE id = $1', [
      availableAccount(merchantId),
    ]);
    const done = { part: 'done', after: '', faults: [] } as const;
    const checkFrom = async (heartbeatDetails: unknown) => {
      const context = {
        heartbeat: () => undefined,
        cancellationSignal: new AbortController().signal,
        info: { heartbeatDetails },
      };
      const activities = createReconciliationActivities({
        db,
        clocks: TEST_CLOCKS,
        keyRing: KEY_RING,
        attestationKeys: KEY_RING,
        log: testLog,
      });
      return asyncLocalStorage.run(context as unknown as Context, () => activities.checkWholeLedger());
    };
    const beganAtMs = Date.now() - HOUR_MS;
    for (const forged of [
      done,
      { beganAtMs, progress: done, attestation: 'A'.repeat(43) },
      { ...attestCheck({ beganAtMs, progress: LEDGER_CHECK_START }, KEY_RING), progress: done },
      'anything',
    ]) {
      assert.equal((await checkFrom(forged)).length, 1);
    }
    const attested = JSON.parse(JSON.stringify(attestCheck({ beganAtMs, progress: done }, KEY_RING))) as unknown;
    assert.deepEqual(await checkFrom(attested), []);
    assert.ok(
      agoOf(await doneAsOf('whole_ledger_check')) < HOUR_MS / 2,
      'as of an hour ago alone, it is not done again',
    );
  });

  it('is reported once a minute, however often the dispatcher passes', async () => {
    const report = createDispatchReport({ db, operators: ['mtn-momo'] });
    const first = new Date(Date.now() - 2000);
    await report.run(first);
    await report.run(new Date());
    assert.deepEqual(await doneAsOf('dispatch'), first);
  });
});
