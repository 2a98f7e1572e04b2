// The check of what changed in the ledger: from checkpoint to checkpoint, and over no fault.
import assert from 'node:assert/strict';
import { findMovedAccounts, recordCheckpoints } from '../../../src/db/payments/ledger-checkpoint.ts';
import { findDoneAsOf } from '../../../src/db/platform/housekeeping.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import { checkLedgerChanges } from '../../../src/operations/payments/check-ledger-changes.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { countRows, makeCollection, makeMerchant, oneRow, paid, record, tamper } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { makePayout, makeShop } from './payout-rows.ts';

const MINUTE_MS = 60_000;

describe('the check of what changed in the ledger', () => {
  const db = useDatabase();

  const checkedPayments = () => findDoneAsOf(db, 'changed_payments');
  const check = async () => (await checkLedgerChanges(db, new Date())).map(({ subject }) => subject).sort();
  const available = (merchantId: MerchantId) => `${merchantId}/available`;
  const checkpointOf = async (accountId: string) => {
    const sql = 'SELECT entry, balance_minor FROM ledger_checkpoints WHERE account_id = $1';
    const { rows } = await db.pool.query<{ entry: string; balance_minor: string }>(sql, [accountId]);
    return rows[0] === undefined ? null : [Number(rows[0].entry), Number(rows[0].balance_minor)];
  };
  async function paidMerchant(...amounts: readonly bigint[]): Promise<MerchantId> {
    const merchantId = await makeMerchant(db);
    for (const amountMinor of amounts) await makeCollection(db, merchantId, 'succeeded', { amountMinor });
    return merchantId;
  }

  it('finds nothing while all adds up, and moves each checkpoint to the account’s newest entry', async () => {
    const merchantId = await paidMerchant(100n, 20n);
    const shop = await makeShop(db, 1_000_000n);
    for (const state of ['queued', 'succeeded', 'failed', 'reversed'] as const) await makePayout(db, shop, state);
    await makeCollection(db, merchantId, 'reversed', { amountMinor: 7n });
    assert.deepEqual(await check(), []);
    assert.deepEqual(await checkpointOf(available(merchantId)), [4, 120]);
    const behind = `ledger_accounts a LEFT JOIN ledger_checkpoints c ON c.account_id = a.id
      WHERE a.entry_count > 0 AND (a.entry_count, a.balance_minor) IS DISTINCT FROM (c.entry, c.balance_minor)`;
    assert.equal(await countRows(db, behind), 0);
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 3n });
    assert.deepEqual(await check(), []);
    assert.deepEqual(await checkpointOf(available(merchantId)), [5, 123]);
  });

  it('reads no entry again: one that is changed behind its checkpoint is left to the check of the whole ledger', async () => {
    const merchantId = await paidMerchant(100n, 20n);
    assert.deepEqual(await check(), []);
    const change = (by: number) =>
      tamper(
        db,
        `UPDATE ledger_transfers SET amount_minor = amount_minor + ${by} WHERE credit_account_id = $1 AND credit_entry = 1`,
        [available(merchantId)],
      );
    await change(1);
    // The payment of this entry has an event of the last quarter of an hour: as if it were older.
    await tamper(db, "UPDATE housekeeping SET done_as_of = now() + interval '1 hour' WHERE task = 'changed_payments'");
    assert.deepEqual(await check(), []);
    assert.equal((await checkLedger(db)).length, 2);
    await change(-1);
    assert.deepEqual(await checkLedger(db), []);
    await tamper(db, "DELETE FROM housekeeping WHERE task = 'changed_payments'");
  });

  it('finds a changed balance until it is mended, and keeps the checkpoint meanwhile', async () => {
    const merchantId = await paidMerchant(100n);
    const untouched = await paidMerchant(50n);
    assert.deepEqual(await check(), []);
    const add = (amount: number) =>
      tamper(db, 'UPDATE ledger_accounts SET balance_minor = balance_minor + $2 WHERE id = $1', [
        available(merchantId),
        amount,
      ]);
    await add(1);
    const fault = { subject: available(merchantId), fault: 'the balance does not match the new entries' };
    assert.deepEqual(await checkLedgerChanges(db, new Date()), [fault]);
    await makeCollection(db, untouched, 'succeeded', { amountMinor: 5n });
    assert.deepEqual(await checkLedgerChanges(db, new Date()), [fault], 'it is still there');
    assert.deepEqual(await checkpointOf(available(merchantId)), [1, 100]);
    assert.deepEqual(await checkpointOf(available(untouched)), [2, 55], 'others go on');
    await add(-1);
    assert.deepEqual(await check(), []);
  });

  it('finds a balance of an account without entries', async () => {
    const merchantId = await makeMerchant(db);
    await tamper(db, 'UPDATE ledger_accounts SET balance_minor = 1 WHERE id = $1', [available(merchantId)]);
    assert.deepEqual(await check(), [available(merchantId)]);
    await tamper(db, 'UPDATE ledger_accounts SET balance_minor = 0 WHERE id = $1', [available(merchantId)]);
    assert.deepEqual(await check(), []);
  });

  const ENTRY_FAULTS = [
    [
      'leaves another balance than it says',
      'UPDATE ledger_transfers SET credit_balance_minor = credit_balance_minor + 1',
    ],
    [
      'is of another amount, with a balance that it explains',
      `UPDATE ledger_transfers SET amount_minor = amount_minor + 1`,
    ],
    ['has the number of another', 'UPDATE ledger_transfers SET credit_entry = credit_entry + 100'],
    ['is gone', 'DELETE FROM ledger_transfers'],
  ] as const;
  for (const [what, sql] of ENTRY_FAULTS) {
    it(`finds an entry that ${what}`, async () => {
      const merchantId = await paidMerchant(100n);
      assert.deepEqual(await check(), []);
      const { id } = await makeCollection(db, merchantId, 'succeeded', { amountMinor: 30n });
      await db.pool.query('CREATE TABLE kept AS SELECT * FROM ledger_transfers WHERE payment_id = $1', [id]);
      await tamper(db, `${sql} WHERE payment_id = $1`, [id]);
      assert.ok((await check()).includes(available(merchantId)));
      assert.deepEqual(await checkpointOf(available(merchantId)), [1, 100]);
      await tamper(db, 'DELETE FROM ledger_transfers WHERE payment_id = $1', [id]);
      await tamper(db, 'INSERT INTO ledger_transfers OVERRIDING SYSTEM VALUE SELECT * FROM kept');
      await db.pool.query('DROP TABLE kept');
      assert.deepEqual(await check(), []);
      assert.deepEqual(await checkpointOf(available(merchantId)), [2, 130]);
    });
  }

  it('finds a payment that has an entry and is not paid, and moves no checkpoint of its merchant', async () => {
    const merchantId = await paidMerchant(100n);
    assert.deepEqual(await check(), []);
    const { id } = await makeCollection(db, merchantId, 'succeeded', { amountMinor: 30n });
    // No event reports it.
    await tamper(db, 'UPDATE events SET id = $2 WHERE payment_id = $1 AND resource_version = 2', [
      id,
      `evt_${'0'.repeat(26)}`,
    ]);
    const become = (state: string, receipt: string | null) =>
      tamper(db, 'UPDATE payments SET state = $2, operator_receipt = $3 WHERE id = $1', [id, state, receipt]);
    await become('prompted', null);
    assert.deepEqual(await check(), [id]);
    assert.deepEqual(await check(), [id], 'it is still there');
    assert.deepEqual(await checkpointOf(available(merchantId)), [1, 100]);
    await become('succeeded', '42');
    assert.deepEqual(await check(), []);
  });

  it('finds a payment that is paid and has no entry, however often it is checked, until it is mended', async () => {
    const merchantId = await makeMerchant(db);
    const { id } = await makeCollection(db, merchantId, 'prompted');
    const shop = await makeShop(db, 1_000_000n);
    const payout = await makePayout(db, shop, 'released');
    const become = (state: string, receipt: string | null, of: string) =>
      tamper(db, 'UPDATE payments SET state = $2, operator_receipt = $3 WHERE id = $1', [of, state, receipt]);
    await become('succeeded', 'r-1', id);
    await become('succeeded', 'r-2', payout.id);
    const before = await checkedPayments();
    assert.deepEqual(await check(), [id, payout.id].sort());
    assert.deepEqual(await check(), [id, payout.id].sort());
    assert.deepEqual(await checkedPayments(), before, 'it is not checked');
    await become('prompted', null, id);
    await become('released', null, payout.id);
    const beganAt = new Date();
    assert.deepEqual(await checkLedgerChanges(db, beganAt), []);
    assert.deepEqual(await checkedPayments(), beganAt);
  });

  it('moves no checkpoint over a fault, however many there are before it', async () => {
    const many = await makeMerchant(db);
    await Promise.all(Array.from({ length: 101 }, () => makeCollection(db, many, 'succeeded', { amountMinor: 1n })));
    const other = await paidMerchant(50n);
    const become = (state: string, receipt: string, merchantId: MerchantId) =>
      tamper(
        db,
        `UPDATE payments SET state = '${state}', operator_receipt = ${receipt} WHERE kind = 'collection' AND merchant_id = $1`,
        [merchantId],
      );
    const before = await checkedPayments();
    // No event reports them.
    await tamper(db, "UPDATE housekeeping SET done_as_of = now() + interval '1 hour' WHERE task = 'changed_payments'");
    await become('prompted', 'NULL', many);
    await become('prompted', 'NULL', other);
    assert.equal((await check()).length, 102);
    assert.equal(await checkpointOf(available(other)), null);
    await become('succeeded', "'again-' || id", many);
    assert.equal((await check()).length, 1);
    await become('succeeded', "'again-' || id", other);
    await tamper(db, "UPDATE housekeeping SET done_as_of = $1 WHERE task = 'changed_payments'", [before]);
    assert.deepEqual(await check(), []);
  });

  it('finds what commits up to a quarter of an hour after the time of its event', async () => {
    const merchantId = await makeMerchant(db);
    const { id } = await makeCollection(db, merchantId, 'prompted');
    const checkedUpTo = (minutes: number) =>
      tamper(
        db,
        "UPDATE housekeeping SET done_as_of = now() + make_interval(mins => $1) WHERE task = 'changed_payments'",
        [minutes],
      );
    assert.deepEqual(await check(), []);
    await tamper(db, `UPDATE payments SET state = 'succeeded', operator_receipt = 'r-3' WHERE id = $1`, [id]);
    await checkedUpTo(14);
    assert.deepEqual(await check(), [id]);
    await checkedUpTo(16);
    assert.deepEqual(await check(), []);
    await tamper(db, `UPDATE payments SET state = 'prompted', operator_receipt = NULL WHERE id = $1`, [id]);
    await checkedUpTo(0);
  });

  it('has checked payments up to no later time than the database’s own, whatever the clock of a process says', async () => {
    assert.deepEqual(await checkLedgerChanges(db, new Date(Date.now() + 60 * MINUTE_MS)), []);
    const checked = await checkedPayments();
    assert.ok(checked !== null && checked.getTime() < Date.now() + 30 * MINUTE_MS);
  });

  it('reads an account with many entries part by part, each from the checkpoint that the part before left', async () => {
    const merchantId = await paidMerchant(1n, 10n, 100n, 1000n, 10_000n);
    const before = `${merchantId}/`;
    const next = () => findMovedAccounts(db, { after: before, to: available(merchantId) }, { accounts: 1, entries: 2 });
    const parts: unknown[] = [];
    for (let part = await next(); part.length > 0; part = await next()) {
      parts.push(
        part.map(({ after, entry, balanceMinor, addsUp, hasMore }) => [after, entry, balanceMinor, addsUp, hasMore]),
      );
      await recordCheckpoints(
        db,
        part.map((account) => ({ ...account, unattestedMinor: 0n })),
      );
    }
    assert.deepEqual(parts, [
      [[0n, 2n, 11n, true, true]],
      [[2n, 4n, 1111n, true, true]],
      [[4n, 5n, 11_111n, true, false]],
    ]);
  });

  it('leaves a checkpoint as another check wrote it since, and goes on from there the next time', async () => {
    const merchantId = await paidMerchant(1n, 10n);
    const range = { after: `${merchantId}/`, to: available(merchantId) };
    const read = async () =>
      (await findMovedAccounts(db, range, { accounts: 1, entries: 10 })).map((account) => ({
        ...account,
        unattestedMinor: 0n,
      }));
    await recordCheckpoints(db, await read());
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 100n });
    const one = await read();
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 1000n });
    await recordCheckpoints(db, one);
    const late = one.map((account) => ({ ...account, entry: 4n, balanceMinor: 1111n }));
    await recordCheckpoints(db, late);
    assert.deepEqual(await checkpointOf(available(merchantId)), [3, 111]);
    assert.deepEqual(await check(), []);
    assert.deepEqual(await checkpointOf(available(merchantId)), [4, 1111]);
  });

  it('finds nothing while payments are recorded at the same time, and two checks may run at once', async () => {
    const merchantId = await makeMerchant(db);
    const collections = await Promise.all(Array.from({ length: 60 }, () => makeCollection(db, merchantId, 'prompted')));
    let isDone = false;
    const recorded = Promise.all(collections.map((collection) => record(db, collection, paid()))).finally(() => {
      isDone = true;
    });
    const checkAll = async () => {
      const faults: unknown[] = [];
      do faults.push(...(await check()));
      while (!isDone);
      return faults;
    };
    assert.deepEqual(await Promise.all([checkAll(), checkAll()]), [[], []]);
    await recorded;
    assert.deepEqual(await check(), []);
    const { entry_count: count } = await oneRow<{ entry_count: string }>(
      db,
      'SELECT entry_count FROM ledger_accounts WHERE id = $1',
      [available(merchantId)],
    );
    assert.equal((await checkpointOf(available(merchantId)))?.[0], Number(count));
  });
});
