// The ledger under concurrent postings: balances are the sum of their entries, and the ledger check finds what is not.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database } from '../../../src/db/platform/database.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES, type PayoutState } from '../../../src/domain/payments/payout.ts';
import { checkLedger, checkRecentPayments } from '../../../src/operations/payments/check-ledger.ts';
import { createMerchant } from '../../../src/operations/accounts/create-merchant.ts';
import { getBalance } from '../../../src/db/payments/ledger.ts';
import { makePayout, makeShop } from './payout-rows.ts';
import { makeCollection, makeMerchant, oneRow, paid, record, tamper, untilOneWaits } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { openAt } from '../../support/engines.ts';

describe('the ledger', () => {
  const db = useDatabase();

  const prompted = (merchantId: MerchantId, amounts: readonly bigint[]) =>
    Promise.all(amounts.map((amountMinor) => makeCollection(db, merchantId, 'prompted', { amountMinor })));
  const deadlocks = async () =>
    Number(
      (
        await oneRow<{ deadlocks: string }>(
          db,
          'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
        )
      ).deadlocks,
    );

  it('starts at zero in the merchant’s currency', async () => {
    const merchantId = await createMerchant(db, { name: 'Shop', currency: 'KES', at: new Date() });
    assert.deepEqual(await getBalance(db, merchantId), { availableMinor: 0n, heldMinor: 0n, currency: 'KES' });
  });

  it('counts every payment when many are recorded at once for one merchant', async () => {
    const merchantId = await makeMerchant(db);
    const amounts = Array.from({ length: 200 }, (_, index) => BigInt(100 + index));
    const collections = await prompted(merchantId, amounts);
    const moved = await Promise.all(collections.map((collection) => record(db, collection, paid())));
    assert.ok(moved.every((collection) => collection.state === 'succeeded'));
    const sum = amounts.reduce((total, amount) => total + amount, 0n);
    assert.deepEqual(await getBalance(db, merchantId), { availableMinor: sum, heldMinor: 0n, currency: 'UGX' });
    assert.deepEqual(await checkLedger(db), []);
  });

  it('has no deadlocks when payments of several merchants are recorded at once', async () => {
    const before = await deadlocks();
    const merchants = await Promise.all(Array.from({ length: 5 }, () => makeMerchant(db)));
    const batches = await Promise.all(merchants.map((id) => prompted(id, Array<bigint>(20).fill(1000n))));
    // One payment of each merchant in turn, so that all merchants are written to at any time.
    const interleaved = Array.from({ length: 20 }, (_, turn) => batches.map((batch) => batch[turn]!)).flat();
    await Promise.all(interleaved.map((collection) => record(db, collection, paid())));
    for (const id of merchants) assert.equal((await getBalance(db, id)).availableMinor, 20_000n);
    assert.equal(await deadlocks(), before);
  });

  it('is credited once for a payment that many callers record at the same time', async () => {
    const merchantId = await makeMerchant(db);
    const [collection] = await prompted(merchantId, [7000n]);
    const outcome = paid();
    const moved = await Promise.all(Array.from({ length: 20 }, () => record(db, collection!, outcome)));
    assert.ok(moved.every(({ state, version }) => state === 'succeeded' && version === 2));
    assert.equal((await getBalance(db, merchantId)).availableMinor, 7000n);
  });

  it('posts one outcome when two callers report different ones at the same time', async () => {
    const merchantId = await makeMerchant(db);
    const collections = await prompted(merchantId, Array<bigint>(20).fill(100n));
    const moved = await Promise.all(
      collections.map((collection) =>
        Promise.all([
          record(db, collection, paid()),
          record(db, collection, { kind: 'declined', failureCode: 'payer_cancelled' }),
        ]),
      ),
    );
    // Both callers get the one outcome that was recorded.
    assert.ok(moved.every(([one, other]) => one.state === other.state && one.version === 2));
    const paidCount = moved.filter(([{ state }]) => state === 'succeeded').length;
    assert.equal((await getBalance(db, merchantId)).availableMinor, BigInt(paidCount) * 100n);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('sums to zero over all accounts', async () => {
    const row = await oneRow<{ sum: string }>(db, 'SELECT sum(amount_minor) AS sum FROM ledger_entries');
    assert.equal(row.sum, '0');
  });
});

describe('the ledger check', () => {
  const db = useDatabase();

  /** A pool whose statement timeout is far shorter than the check takes while another connection locks the table. */
  async function withLockedLedger(
    work: (hasty: Database, unlock: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const hasty = openAt(db.url, { poolSize: 2, statementTimeoutMs: 100 });
    // The check reads transfers only where there is an account.
    await makeMerchant(db);
    const holder = await db.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE ledger_transfers');
      await work(hasty, async () => {
        await holder.query('COMMIT');
      });
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
      await hasty.close();
    }
  }

  it('has a timeout of its own, longer than the pool’s statement timeout', async () => {
    await withLockedLedger(async (hasty, unlock) => {
      const checks = Promise.all([checkLedger(hasty), checkRecentPayments(hasty, new Date(0))]);
      // Longer than the pool's timeouts for statements and for silent servers.
      await Promise.all([checks, sleep(2000).then(unlock)]);
      assert.deepEqual(await checks, [[], []]);
      assert.deepEqual((await hasty.pool.query('SHOW statement_timeout')).rows, [{ statement_timeout: '100ms' }]);
    });
  });

  it('ends at once when its signal aborts', async () => {
    await withLockedLedger(async (hasty) => {
      const stopping = new AbortController();
      const check = checkLedger(hasty, stopping.signal);
      const isRefused = assert.rejects(check, /canceling statement due to user request/);
      await untilOneWaits(db).finally(() => {
        stopping.abort();
      });
      await isRefused;
      await assert.rejects(checkLedger(hasty, AbortSignal.abort()), /aborted/);
    });
  });

  const faulty = async () => (await checkLedger(db)).map(({ subject }) => subject).sort();

  it('finds a balance that is not the sum of its entries', async () => {
    const merchantId = await makeMerchant(db);
    const account = `${merchantId}/available`;
    await tamper(db, 'UPDATE ledger_accounts SET balance_minor = 1 WHERE id = $1', [account]);
    assert.deepEqual(await checkLedger(db), [{ subject: account, fault: 'the balance is not the sum of the entries' }]);
    await tamper(db, 'UPDATE ledger_accounts SET balance_minor = 0 WHERE id = $1', [account]);
  });

  it('finds a transfer without a success, and a success without a transfer', async () => {
    const merchantId = await makeMerchant(db);
    const unpaid = await makeCollection(db, merchantId, 'prompted');
    const paid = await makeCollection(db, merchantId, 'succeeded');
    const become = (state: string, receipt: string | null, id: string) =>
      tamper(db, 'UPDATE payments SET state = $1, operator_receipt = $2 WHERE id = $3', [state, receipt, id]);
    await become('succeeded', '42', unpaid.id);
    await become('prompted', null, paid.id);
    const subjects = await faulty();
    assert.deepEqual(subjects, [unpaid.id, paid.id].sort());
    const recent = async (since: number) =>
      (await checkRecentPayments(db, new Date(since))).map(({ subject }) => subject).sort();
    assert.deepEqual(await recent(unpaid.createdAt.getTime()), subjects);
    assert.deepEqual(await recent(Date.now() + 60_000), []);
    await become('prompted', null, unpaid.id);
    await become('succeeded', '42', paid.id);
    assert.deepEqual(await faulty(), []);
  });

  it('finds a reversal without its transfer, and the transfer of a reversal that is not recorded', async () => {
    const merchantId = await makeMerchant(db);
    const paid = await makeCollection(db, merchantId, 'succeeded');
    const returned = await makeCollection(db, merchantId, 'reversed');
    const become = (state: string, amountReversed: number, id: string) =>
      tamper(db, 'UPDATE payments SET state = $1, amount_reversed_minor = $2 WHERE id = $3', [
        state,
        amountReversed,
        id,
      ]);
    await become('reversed', 5000, paid.id);
    await become('succeeded', 0, returned.id);
    assert.deepEqual(await faulty(), [paid.id, returned.id].sort());
    await become('succeeded', 0, paid.id);
    await become('reversed', 5000, returned.id);
    assert.deepEqual(await faulty(), []);
  });

  it('accepts payouts in every state', async () => {
    const shop = await makeShop(db, 1_000_000n);
    for (const state of PAYOUT_STATES) await makePayout(db, shop, state);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('finds the payouts that were released, or sent, days ago and have no outcome', async () => {
    const shop = await makeShop(db, 1_000_000n);
    const expected: string[] = [];
    for (const state of PAYOUT_STATES) {
      const { id } = await makePayout(db, shop, state);
      await tamper(db, `UPDATE payments SET updated_at = now() - interval '73 hours' WHERE id = $1`, [id]);
      if (state === 'released' || state === 'reconciling') expected.push(id);
    }
    assert.deepEqual((await faulty()).sort(), expected.sort());
    await tamper(db, 'UPDATE payments SET updated_at = now() WHERE id = ANY ($1)', [expected]);
    assert.deepEqual(await faulty(), []);
  });

  const falseRows: readonly (readonly [PayoutState, string, string])[] = [
    ['queued', 'rejected', "rejection_reason = 'no', decided_by = created_by, version = 1, previous_state = 'queued'"],
    ['rejected', 'queued', 'rejection_reason = NULL, decided_by = NULL, version = 0, previous_state = NULL'],
    ['released', 'succeeded', "operator_receipt = '42'"],
    ['released', 'failed', "failure_code = 'unknown'"],
    ['failed', 'succeeded', "failure_code = NULL, failed_by = NULL, operator_receipt = '42'"],
    ['succeeded', 'reversed', 'amount_reversed_minor = amount_minor'],
    ['reversed', 'succeeded', 'amount_reversed_minor = 0'],
  ];
  for (const [state, claimed, assignments] of falseRows) {
    it(`finds a payout that is ${state} by its transfers and ${claimed} by its row`, async () => {
      const shop = await makeShop(db, 1000n);
      const { id } = await makePayout(db, shop, state);
      const { original } = await oneRow<{ original: unknown }>(
        db,
        'SELECT to_json(payments) AS original FROM payments WHERE id = $1',
        [id],
      );
      await tamper(db, `UPDATE payments SET state = $1, ${assignments} WHERE id = $2`, [claimed, id]);
      assert.deepEqual(await faulty(), [id]);
      await tamper(db, 'DELETE FROM payments WHERE id = $1', [id]);
      await tamper(db, 'INSERT INTO payments SELECT * FROM json_populate_record(NULL::payments, $1)', [
        JSON.stringify(original),
      ]);
      assert.deepEqual(await faulty(), []);
    });
  }

  it('finds a payout whose transfer has another amount', async () => {
    const shop = await makeShop(db, 1000n);
    const { id, createdAt } = await makePayout(db, shop, 'queued');
    await tamper(db, 'UPDATE payments SET amount_minor = amount_minor - 1 WHERE id = $1', [id]);
    assert.deepEqual(await faulty(), [id]);
    const recent = async (sinceMs: number) =>
      (await checkRecentPayments(db, new Date(sinceMs))).map(({ subject }) => subject);
    assert.deepEqual(await recent(createdAt.getTime()), [id]);
    assert.deepEqual(await recent(createdAt.getTime() + 1), []);
  });
});
