// Reversals of collections: those that the operator makes by itself, and those that an approver requests.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { CollectionId } from '../../../src/domain/ids.ts';
import { record } from '../../db/rows.ts';
import { assertError } from '../responses.ts';
import { call, collectionFields } from '../../support/api.ts';
import { eventually, type TestMerchant } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import {
  callBack,
  fetchAs,
  pay,
  transitionsOf,
  switchFaults,
  untilAllReceived,
  untilState,
  type Payment,
} from '../../support/payments.ts';
import { fund, requestPayout, balanceOf, release, untilPayoutState } from '../../support/payouts.ts';
import { logInAs, type Browser } from '../../support/people.ts';

const REVERSED = ['initiated > prompted', 'prompted > succeeded', 'succeeded > reversed'];

describe('a succeeded collection', () => {
  const testEnv = useTestEnvironment();

  async function paid(row = '000'): Promise<{ payment: Payment; merchant: TestMerchant; approver: Browser }> {
    const merchant = await testEnv.addMerchant();
    const payment = await pay(testEnv, row, { merchant });
    await untilState(testEnv, payment, 'succeeded');
    return { payment, merchant, approver: await logInAs(testEnv, merchant.id, 'approver') };
  }

  const reverse = (browser: Browser, { id }: { id: string }, idempotencyKey = randomUUID()) =>
    browser.call('POST', `/v1/console/collections/${id}/reversal`, { idempotencyKey });

  async function untilReversal(browser: Browser, { id }: Payment, state: string): Promise<void> {
    await eventually(`the reversal to be ${state}`, async () => {
      return (await browser.call('GET', `/v1/console/collections/${id}/reversal`)).json['state'] === state;
    });
  }

  it('is reversed when the operator returns the money, and its amount leaves the balance (015)', async () => {
    const merchant = await testEnv.addMerchant();
    const payment = await pay(testEnv, '015', { merchant });
    const shown = await untilState(testEnv, payment, 'reversed');
    assert.equal(shown['amount_reversed'], payment.amount);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), REVERSED);
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
  });

  it('leaves a negative balance when the operator reverses it after the money was paid out', async () => {
    const merchant = await testEnv.addMerchant();
    await switchFaults(testEnv, {});
    const payment = await pay(testEnv, '015', { merchant });
    await untilState(testEnv, payment, 'succeeded');
    const payout = await requestPayout(testEnv, '000', { merchant, amount: payment.amount });
    await release(await logInAs(testEnv, merchant.id, 'approver'), payout);
    await untilPayoutState(testEnv, payout, 'succeeded');
    await untilState(testEnv, payment, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [-payment.amount, 0]);
  });

  it('is not reversed by a forged callback', async () => {
    const { payment, merchant } = await paid();
    await callBack(testEnv, payment.operatorReference, 'FAILED');
    await eventually('the recheck that follows to end', async () => {
      const { rows } = await testEnv.db.pool.query<{ count: string }>(
        'SELECT count(*) FROM operator_callbacks WHERE collection_id = $1',
        [payment.id],
      );
      return Number(rows[0]?.count) === 2;
    });
    assert.equal((await untilState(testEnv, payment, 'succeeded')).state, 'succeeded');
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
  });

  it('is refunded when an approver requests it, and reversed when the operator confirms it', async () => {
    const { payment, merchant, approver } = await paid();
    const key = randomUUID();
    const requested = await reverse(approver, payment, key);
    assert.deepEqual([requested.status, requested.json['state']], [202, 'requested']);
    assert.deepEqual(
      await balanceOf(testEnv, merchant),
      [payment.amount, 0],
      'nothing moves before the operator confirms it',
    );
    await untilState(testEnv, payment, 'reversed');
    await untilReversal(approver, payment, 'succeeded');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), REVERSED);
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
    assert.equal((await reverse(approver, payment, key)).text, requested.text);
    assertError(await reverse(approver, payment), 'state_conflict');
  });

  it('is refunded once, however many requests come at the same time', async () => {
    const { payment, merchant, approver } = await paid();
    const responses = await Promise.all(Array.from({ length: 5 }, () => reverse(approver, payment)));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [202, 409, 409, 409, 409]);
    await untilState(testEnv, payment, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
  });

  it('stays succeeded when the operator refuses the refund', async () => {
    const { payment, merchant, approver } = await paid();
    // The operator does not know the payment by this reference, so it refuses a refund.
    const reference = randomUUID();
    await testEnv.db.pool.query('ALTER TABLE collections DISABLE TRIGGER collections_check_change');
    await testEnv.db.pool.query('UPDATE collections SET operator_reference = $2 WHERE id = $1', [
      payment.id,
      reference,
    ]);
    await testEnv.db.pool.query('ALTER TABLE collections ENABLE TRIGGER collections_check_change');
    assert.equal((await reverse(approver, payment)).status, 202);
    await untilReversal(approver, payment, 'failed');
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
  });

  it('keeps its reversal waiting while the operator is unavailable, and is refunded once afterwards', async () => {
    const { payment, merchant, approver } = await paid();
    await switchFaults(testEnv, { down: true });
    await reverse(approver, payment);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
    await switchFaults(testEnv, {});
    await untilState(testEnv, payment, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
  });

  it('is not refunded when another refund has already claimed the balance', async () => {
    const { payment, merchant, approver } = await paid();
    const second = await pay(testEnv, '000', { merchant });
    await untilState(testEnv, second, 'succeeded');
    await release(approver, await requestPayout(testEnv, '000', { merchant, amount: payment.amount }));
    await switchFaults(testEnv, { down: true });
    const responses = await Promise.all([reverse(approver, payment), reverse(approver, second)]);
    assert.deepEqual(responses.map(({ status }) => status).sort(), [202, 402]);
    const refused = await call(testEnv.baseUrl, 'POST', '/v1/api/payouts', {
      key: merchant.key,
      json: collectionFields(),
    });
    assert.equal(refused.status, 402, 'the amount of a requested refund is not available');
    await switchFaults(testEnv, {});
  });

  it('is rechecked when the operator’s callback may be lost among forged ones', async () => {
    const { payment, merchant } = await paid();
    for (let i = 0; i < 22; i++) await callBack(testEnv, payment.operatorReference, 'FAILED');
    const { rows } = await testEnv.db.pool.query<{ is_due: boolean }>(
      `SELECT check_due_at < now() + interval '61 s' AS is_due FROM collections WHERE id = $1`,
      [payment.id],
    );
    assert.deepEqual(rows, [{ is_due: true }]);
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
  });

  it('is not refunded by anybody but an approver, nor beyond the balance, nor when it has not succeeded', async () => {
    const { payment, merchant, approver } = await paid();
    for (const role of ['maker', 'viewer', 'admin', 'developer'] as const) {
      assertError(await reverse(await logInAs(testEnv, merchant.id, role), payment), 'permission_denied');
    }
    await requestPayout(testEnv, '000', { merchant, amount: payment.amount });
    const key = randomUUID();
    const refused = await reverse(approver, payment, key);
    assertError(refused, 'balance_insufficient');
    const again = await reverse(approver, payment, key);
    assert.deepEqual([again.status, again.text], [402, refused.text]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const declined = await pay(testEnv, '001', { merchant });
    await untilState(testEnv, declined, 'failed');
    assertError(await reverse(approver, declined), 'state_conflict');
    const stranger = await logInAs(testEnv, (await testEnv.addMerchant()).id, 'approver');
    assertError(await reverse(stranger, payment), 'collection_not_found');
  });
});

describe('a refund that was requested while no worker ran', () => {
  const testEnv = useTestEnvironment({ startsServer: false });

  it('fails at once and says why when the operator returned the collection first, and takes no money', async () => {
    const { merchant, db } = testEnv;
    await testEnv.startServer({ MALIPO_ROLES: 'api' });
    await fund(testEnv, merchant, 5000);
    const { id } = (await fetchAs<{ data: { id: CollectionId }[] }>(testEnv, merchant, '/v1/api/collections')).data[0]!;
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    const path = `/v1/console/collections/${id}/reversal`;
    assert.equal((await approver.call('POST', path, { idempotencyKey: randomUUID() })).status, 202);
    await record(db, { id, merchantId: merchant.id }, { kind: 'returned' });
    await testEnv.startServer({ MALIPO_ROLES: 'worker,dispatcher' });
    const shown = await eventually('its end', async () => {
      const { json } = await approver.call('GET', path);
      return json['state'] === 'requested' ? null : json;
    });
    assert.deepEqual([shown['state'], (shown['failure'] as { code: string }).code], ['failed', 'already_returned']);
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
    const sent = 'SELECT 1 FROM reversals WHERE send_begun_at IS NOT NULL';
    assert.equal((await db.pool.query(sent)).rowCount, 0);
  });
});
