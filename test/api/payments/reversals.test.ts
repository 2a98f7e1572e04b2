// Reversals of collections: those that the operator makes by itself, and those that a maker requests and an approver releases.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { CollectionId, ReversalId } from '../../../src/domain/ids.ts';
import { record, countRows } from '../../db/rows.ts';
import { assertError } from '../responses.ts';
import { PAYMENT_CHANGED } from '../../../workflows/contract.ts';
import { reversalWorkflowId } from '../../../src/temporal/workflow-ids.ts';
import { call, collectionFields, type ApiResponse } from '../../support/api.ts';
import { temporalClient } from '../../support/engines.ts';
import { eventually, type TestEnvironment, type TestMerchant } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { callBack, fetchAs, pay, untilState, type Payment } from '../../support/payments.ts';
import { sandboxTransactions, switchFaults } from '../../support/sandbox-operator.ts';
import { transitionsOf, untilAllReceived } from '../../support/payment-events.ts';
import { fund, requestPayout, balanceOf, release, releaseRefund, untilPayoutState } from '../../support/payouts.ts';
import { assertAudited } from '../../support/audit-rows.ts';
import { logInAs } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';

const REVERSED = ['initiated > prompted', 'prompted > succeeded', 'succeeded > reversed'];

/** What the operator knows of refunds of the payment. */
async function sandboxRefunds(testEnv: TestEnvironment, { phone }: Payment): Promise<unknown[]> {
  return (await sandboxTransactions(testEnv, phone)).filter(({ kind }) => kind === 'refund');
}

describe('a succeeded collection', () => {
  const testEnv = useTestEnvironment();

  type Paid = {
    readonly payment: Payment;
    readonly merchant: TestMerchant;
    readonly maker: Browser;
    readonly approver: Browser;
  };

  async function paid(row = '000'): Promise<Paid> {
    const merchant = await testEnv.addMerchant();
    const payment = await pay(testEnv, row, { merchant });
    await untilState(testEnv, payment, 'succeeded');
    const [maker, approver] = await Promise.all([
      logInAs(testEnv, merchant.id, 'maker'),
      logInAs(testEnv, merchant.id, 'approver'),
    ]);
    return { payment, merchant, maker, approver };
  }

  const reverse = (browser: Browser, { id }: { id: string }, idempotencyKey = randomUUID()) =>
    browser.call('POST', `/v1/console/collections/${id}/reversal`, { idempotencyKey });

  /** Requests the refund and lets the approver release it; returns the response to the release. */
  async function refund({ payment, maker, approver }: Paid): Promise<ApiResponse> {
    const requested = await reverse(maker, payment);
    assert.equal(requested.status, 202, requested.text);
    return releaseRefund(approver, String(requested.json['id']));
  }

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
      return (await countRows(testEnv.db, 'operator_callbacks WHERE payment_id = $1', [payment.id])) === 2;
    });
    assert.equal((await untilState(testEnv, payment, 'succeeded')).state, 'succeeded');
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
  });

  it('is refunded when a maker requests it and an approver releases it, and reversed when the operator confirms it', async () => {
    const { payment, merchant, maker, approver } = await paid();
    const key = randomUUID();
    const requested = await reverse(maker, payment, key);
    assert.deepEqual(
      [requested.status, requested.json['state'], requested.json['approval_state']],
      [202, 'queued', 'pending'],
    );
    const released = await releaseRefund(approver, String(requested.json['id']));
    assert.deepEqual(
      [released.status, released.json['state'], released.json['approval_state']],
      [200, 'released', 'approved'],
    );
    assert.deepEqual(
      await balanceOf(testEnv, merchant),
      [payment.amount, 0],
      'nothing moves before the operator confirms it',
    );
    await untilState(testEnv, payment, 'reversed');
    await untilReversal(approver, payment, 'succeeded');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), REVERSED);
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
    assert.equal((await reverse(maker, payment, key)).text, requested.text);
    assertError(await reverse(maker, payment), 'state_conflict');
  });

  it('is refunded once, however many requests come at the same time', async () => {
    const { payment, merchant, maker, approver } = await paid();
    const responses = await Promise.all(Array.from({ length: 5 }, () => reverse(maker, payment)));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [202, 409, 409, 409, 409]);
    const { id } = responses.find(({ status }) => status === 202)!.json as { id: string };
    const other = await logInAs(testEnv, merchant.id, 'approver');
    const releases = await Promise.all([approver, other, approver, other].map((each) => releaseRefund(each, id)));
    assert.deepEqual(releases.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    await untilState(testEnv, payment, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
  });

  it('stays succeeded when the operator refuses the refund', async () => {
    const shop = await paid();
    const { payment, merchant, approver } = shop;
    // The operator does not know the payment by this reference, so it refuses a refund.
    const reference = randomUUID();
    await testEnv.db.pool.query('ALTER TABLE payments DISABLE TRIGGER payments_requested_kept');
    await testEnv.db.pool.query('UPDATE payments SET operator_reference = $2 WHERE id = $1', [payment.id, reference]);
    await testEnv.db.pool.query('ALTER TABLE payments ENABLE TRIGGER payments_requested_kept');
    assert.equal((await refund(shop)).status, 200);
    await untilReversal(approver, payment, 'failed');
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
  });

  it('keeps its reversal waiting while the operator is unavailable, and is refunded once afterwards', async () => {
    const shop = await paid();
    const { payment, merchant } = shop;
    await switchFaults(testEnv, { down: true });
    await refund(shop);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
    await switchFaults(testEnv, {});
    await untilState(testEnv, payment, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
  });

  it('is not refunded when another refund has already claimed the balance', async () => {
    const { payment, merchant, maker, approver } = await paid();
    const second = await pay(testEnv, '000', { merchant });
    await untilState(testEnv, second, 'succeeded');
    await release(approver, await requestPayout(testEnv, '000', { merchant, amount: payment.amount }));
    await switchFaults(testEnv, { down: true });
    const responses = await Promise.all([reverse(maker, payment), reverse(maker, second)]);
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
      `SELECT queries > 0 OR due_at < now() + interval '61 s' AS is_due FROM work WHERE id = $1 AND task = 'status_query'`,
      [payment.id],
    );
    assert.deepEqual(rows, [{ is_due: true }]);
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
  });

  it('is requested back by nobody but a maker, nor beyond the balance, nor when it has not succeeded', async () => {
    const { payment, merchant, maker } = await paid();
    for (const role of ['approver', 'viewer', 'admin', 'developer'] as const) {
      assertError(await reverse(await logInAs(testEnv, merchant.id, role), payment), 'permission_denied');
    }
    await requestPayout(testEnv, '000', { merchant, amount: payment.amount });
    const key = randomUUID();
    const refused = await reverse(maker, payment, key);
    assertError(refused, 'balance_insufficient');
    const again = await reverse(maker, payment, key);
    assert.deepEqual([again.status, again.text], [402, refused.text]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const declined = await pay(testEnv, '001', { merchant });
    await untilState(testEnv, declined, 'failed');
    assertError(await reverse(maker, declined), 'state_conflict');
    const stranger = await logInAs(testEnv, (await testEnv.addMerchant()).id, 'maker');
    assertError(await reverse(stranger, payment), 'collection_not_found');
  });

  it('is sent back by no one person, whatever their roles, and by nobody while its refund is queued', async () => {
    const { payment, merchant, maker } = await paid();
    const owner = await logInAs(testEnv, merchant.id, 'owner');
    const { id } = (await reverse(owner, payment)).json as { id: string };
    assertError(await releaseRefund(owner, id), 'approval_self');
    for (const role of ['maker', 'viewer', 'admin', 'developer'] as const) {
      assertError(await releaseRefund(await logInAs(testEnv, merchant.id, role), id), 'permission_denied');
    }
    const stranger = await logInAs(testEnv, (await testEnv.addMerchant()).id, 'owner');
    assertError(await releaseRefund(stranger, id), 'reversal_not_found');
    const handle = (await temporalClient()).workflow.getHandle(reversalWorkflowId(id as ReversalId));
    await eventually('the workflow to wait', () => handle.describe().catch(() => null));
    for (const signal of [PAYMENT_CHANGED, 'operatorCalledBack', 'release']) await handle.signal(signal, {});
    assertError(await maker.call('POST', `/v1/console/reversals/${id}/cancel`), 'permission_denied');
    const cancelled = await owner.call('POST', `/v1/console/reversals/${id}/cancel`);
    assert.deepEqual([cancelled.json['state'], cancelled.json['approval_state']], ['cancelled', 'cancelled']);
    await eventually('the workflow to end', async () => (await handle.describe()).status.name === 'COMPLETED');
    assert.equal((await untilState(testEnv, payment, 'succeeded')).state, 'succeeded');
    assert.equal((await sandboxRefunds(testEnv, payment)).length, 0);
    assert.equal((await reverse(maker, payment)).status, 202, 'another refund may follow');
  });

  it('is rejected with a reason, and what waits is listed and counted for those who may release it', async () => {
    const { payment, merchant, maker, approver } = await paid();
    const { id } = (await reverse(maker, payment)).json as { id: string };
    const waiting = async (browser: Browser) => {
      const { waits_for_you: waits } = (await browser.call('GET', '/v1/console/session')).json as {
        waits_for_you: { reversals: number };
      };
      return waits.reversals;
    };
    const pending = async () => {
      const { json } = await approver.call('GET', '/v1/console/reversals?approval_state=pending');
      return (json['data'] as { id: string }[]).map((each) => each.id);
    };
    assert.deepEqual([await waiting(approver), await waiting(maker), await pending()], [1, 0, [id]]);
    const reject = (browser: Browser) =>
      browser.call('POST', `/v1/console/reversals/${id}/reject`, { json: { reason: 'Not this one' } });
    assertError(await reject(maker), 'permission_denied');
    const rejected = await reject(approver);
    assert.deepEqual([rejected.json['state'], rejected.json['rejection_reason']], ['rejected', 'Not this one']);
    await assertAudited(testEnv, rejected, { action: 'reversal.rejected', outcome: 'done', subject_id: id });
    assertError(await releaseRefund(approver, id), 'state_conflict');
    assert.deepEqual([await waiting(approver), await pending()], [0, []]);
    const { json } = await maker.call('GET', `/v1/console/reversals/${id}`);
    // Beside the same fields, a person who is named by an id has a name and an e-mail here.
    assert.deepEqual({ ...json, ...rejected.json }, json);
    const { requested_by_person: requester, decided_by: decider } = json as Record<
      string,
      { id?: string; email?: string }
    >;
    assert.equal(requester?.id, json['requested_by']);
    assert.match(String(decider?.email), /@/);
    assert.deepEqual(await balanceOf(testEnv, merchant), [payment.amount, 0]);
  });
});

describe('a refund that was released while no worker ran', () => {
  const testEnv = useTestEnvironment({ startsServer: false });

  it('fails at once and says why when the operator returned the collection first, and takes no money', async () => {
    const { merchant, db } = testEnv;
    await testEnv.startServer({ MALIPO_ROLES: 'api' });
    await fund(testEnv, merchant, 5000);
    const { id } = (await fetchAs<{ data: { id: CollectionId }[] }>(testEnv, merchant, '/v1/api/collections')).data[0]!;
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    const path = `/v1/console/collections/${id}/reversal`;
    const maker = await logInAs(testEnv, merchant.id, 'maker');
    const requested = await maker.call('POST', path, { idempotencyKey: randomUUID() });
    assert.equal((await releaseRefund(approver, String(requested.json['id']))).status, 200);
    await record(db, { id, merchantId: merchant.id }, { kind: 'returned' });
    await testEnv.startServer({ MALIPO_ROLES: 'worker,dispatcher' });
    const shown = await eventually('its end', async () => {
      const { json } = await approver.call('GET', path);
      return json['state'] === 'released' ? null : json;
    });
    assert.deepEqual([shown['state'], (shown['failure'] as { code: string }).code], ['failed', 'already_returned']);
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
    const sent = "SELECT 1 FROM payments WHERE kind = 'reversal' AND send_begun_at IS NOT NULL";
    assert.equal((await db.pool.query(sent)).rowCount, 0);
  });
});
