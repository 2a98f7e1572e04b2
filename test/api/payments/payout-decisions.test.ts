// Decisions on queued payouts: rejection, cancellation, expiry, policies, bulk releases, and two decisions at once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { assertError } from '../responses.ts';
import { call, collectionFields } from '../../support/api.ts';
import type { TestMerchant } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { phoneFor } from '../../support/payments.ts';
import { transitionsOf, untilAllReceived } from '../../support/payment-events.ts';
import {
  requestPayout,
  balanceOf,
  fund,
  release,
  transfersAccepted,
  untilPayoutState,
  type Payout,
} from '../../support/payouts.ts';
import { addPerson, logInAs, logIn } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { rewrite } from '../../support/attestation.ts';

const FUNDS = 100_000;

describe('a queued payout', () => {
  const testEnv = useTestEnvironment();

  async function fundedMerchant(): Promise<TestMerchant> {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, FUNDS);
    return merchant;
  }

  async function assertReturned(payout: Payout, state: 'rejected' | 'cancelled' | 'expired'): Promise<void> {
    const shown = await untilPayoutState(testEnv, payout, state);
    assert.equal(shown.approval_state, state);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payout)), ['nothing > queued', `queued > ${state}`]);
    assert.deepEqual(await balanceOf(testEnv, payout.merchant), [FUNDS, 0]);
    assert.equal(await transfersAccepted(testEnv, payout), 0);
  }

  it('returns its money to the balance when an approver rejects it, and shows the reason', async () => {
    const merchant = await fundedMerchant();
    const payout = await requestPayout(testEnv, '000', { merchant });
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    const reject = () =>
      approver.call('POST', `/v1/console/payouts/${payout.id}/reject`, { json: { reason: 'Wrong amount' } });
    const { status, json } = await reject();
    assert.deepEqual([status, json['state'], json['rejection_reason']], [200, 'rejected', 'Wrong amount']);
    await assertReturned(payout, 'rejected');
    assert.equal((await reject()).status, 200, 'the same again changes nothing');
    assertError(await release(approver, payout), 'state_conflict');
  });

  it('needs a reason and an approver to be rejected', async () => {
    const merchant = await fundedMerchant();
    const payout = await requestPayout(testEnv, '000', { merchant });
    const path = `/v1/console/payouts/${payout.id}/reject`;
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    assertError(await approver.call('POST', path, { json: {} }), 'parameter_missing');
    const maker = await logInAs(testEnv, merchant.id, 'maker');
    assertError(await maker.call('POST', path, { json: { reason: 'no' } }), 'permission_denied');
  });

  it('returns its money to the balance when its maker cancels it, and nobody else can cancel it', async () => {
    const merchant = await fundedMerchant();
    const maker = await logInAs(testEnv, merchant.id, 'maker');
    const json = collectionFields({ phone: phoneFor('000') });
    const created = await maker.call('POST', '/v1/api/payouts', { json, idempotencyKey: randomUUID() });
    const payout = { ...(await toPayout(created.json['id'], merchant, json['phone'])) };
    const path = `/v1/console/payouts/${payout.id}/cancel`;
    assertError(await (await logInAs(testEnv, merchant.id, 'owner')).call('POST', path), 'permission_denied');
    assert.equal((await maker.call('POST', path)).json['state'], 'cancelled');
    await assertReturned(payout, 'cancelled');
    assert.equal((await maker.call('POST', path)).status, 200, 'the same again changes nothing');
  });

  async function toPayout(id: unknown, merchant: TestMerchant, phone: unknown): Promise<Payout> {
    const { json } = await call(testEnv.baseUrl, 'GET', `/v1/api/payouts/${String(id)}`, { key: merchant.key });
    const operatorReference = String(json['operator_reference']);
    const unused = { workflowId: '', idempotencyKey: '' };
    return { id: String(id), phone: String(phone), amount: 5000, operatorReference, merchant, ...unused };
  }

  it('expires when nobody releases it in time, and cannot be released afterwards', async () => {
    const merchant = await fundedMerchant();
    await setPolicy(merchant, 'payout_expires_after_ms', 1500);
    const payout = await requestPayout(testEnv, '000', { merchant });
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    await assertReturned(payout, 'expired');
    assertError(await release(approver, payout), 'state_conflict');
  });

  async function setPolicy({ id }: TestMerchant, column: string, value: unknown): Promise<void> {
    await rewrite(
      testEnv.db,
      `INSERT INTO policies (merchant_id, ${column}, updated_at) VALUES ($1, $2, now())
       ON CONFLICT (merchant_id) DO UPDATE SET ${column} = $2`,
      [id, value],
    );
  }

  it('is either sent or cancelled when its release and its cancellation are requested at once', async () => {
    const merchant = await fundedMerchant();
    const person = await addPerson(testEnv, merchant.id, ['maker']);
    const [maker, approver] = [await logIn(testEnv, person), await logInAs(testEnv, merchant.id, 'approver')];
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const json = collectionFields({ phone: phoneFor('000'), amount: 1000 });
        const created = await maker.call('POST', '/v1/api/payouts', { json, idempotencyKey: randomUUID() });
        const payout = await toPayout(created.json['id'], merchant, json['phone']);
        const [released, cancelled] = await Promise.all([
          release(approver, payout),
          maker.call('POST', `/v1/console/payouts/${payout.id}/cancel`),
        ]);
        // What is released can be cancelled until its send begins.
        const statuses = [released.status, cancelled.status];
        assert.ok(statuses.every((status) => [200, 409].includes(status)) && statuses.includes(200), String(statuses));
        const isSent = cancelled.status !== 200;
        await untilPayoutState(testEnv, payout, isSent ? 'succeeded' : 'cancelled');
        assert.equal(await transfersAccepted(testEnv, payout), isSent ? 1 : 0);
        return isSent;
      }),
    );
    const sent = outcomes.filter(Boolean).length;
    assert.deepEqual(await balanceOf(testEnv, merchant), [FUNDS - sent * 1000, 0]);
  });

  describe('under a policy', () => {
    it('waits for a second approver, who is another person, when the policy requires two', async () => {
      const merchant = await fundedMerchant();
      await setPolicy(merchant, 'two_approvers_above_minor', 5000);
      const payout = await requestPayout(testEnv, '000', { merchant, amount: 5001 });
      const first = await logInAs(testEnv, merchant.id, 'approver');
      const { json } = await release(first, payout);
      assert.deepEqual([json['state'], json['approvals_required']], ['queued', 2]);
      assert.equal((await release(first, payout)).json['state'], 'queued', 'one person counts once');
      const second = await logInAs(testEnv, merchant.id, 'approver');
      assert.equal((await release(second, payout)).json['state'], 'released');
      const shown = await untilPayoutState(testEnv, payout, 'succeeded');
      assert.equal((shown['approvals'] as unknown[]).length, 2);
    });

    it('needs one approver when its amount is not above the threshold for two', async () => {
      const merchant = await fundedMerchant();
      await setPolicy(merchant, 'two_approvers_above_minor', 5000);
      const payout = await requestPayout(testEnv, '000', { merchant, amount: 5000 });
      assert.equal((await release(await logInAs(testEnv, merchant.id, 'approver'), payout)).json['state'], 'released');
    });

    it('is not released by an approver beyond their daily limit, but by another', async () => {
      const merchant = await fundedMerchant();
      await setPolicy(merchant, 'approver_daily_limit_minor', 9000);
      const [one, two] = [
        await requestPayout(testEnv, '000', { merchant }),
        await requestPayout(testEnv, '000', { merchant }),
      ];
      const approver = await logInAs(testEnv, merchant.id, 'approver');
      assert.equal((await release(approver, one)).status, 200);
      assertError(await release(approver, two), 'permission_denied');
      assert.equal((await release(await logInAs(testEnv, merchant.id, 'approver'), two)).status, 200);
    });

    it('is not released by an approver without a second factor when the policy requires one', async () => {
      const merchant = await fundedMerchant();
      await setPolicy(merchant, 'second_factor_required', true);
      const payout = await requestPayout(testEnv, '000', { merchant });
      const without = await addPerson(testEnv, merchant.id, ['approver'], { hasSecondFactor: false });
      assertError(await release(await logIn(testEnv, without), payout), 'permission_denied');
      const person = await addPerson(testEnv, merchant.id, ['approver']);
      assert.equal((await release(await logIn(testEnv, person), payout)).status, 200);
    });
  });

  describe('in a bulk release', () => {
    const releaseMany = (browser: Browser, ids: readonly string[], idempotencyKey = randomUUID()) =>
      browser.call('POST', '/v1/console/payouts/release', { json: { ids }, idempotencyKey });

    it('is released with the others by one call, which states why a payout cannot be', async () => {
      const merchant = await fundedMerchant();
      const payouts = await Promise.all([1, 2, 3].map(() => requestPayout(testEnv, '000', { merchant })));
      const own = await logInAs(testEnv, merchant.id, 'maker', 'approver');
      const json = collectionFields({ phone: phoneFor('000') });
      const mine = await own.call('POST', '/v1/api/payouts', { json, idempotencyKey: randomUUID() });
      const ids = [...payouts.map(({ id }) => id), String(mine.json['id']), 'pay_unknown'];
      const key = randomUUID();
      const response = await releaseMany(own, ids, key);
      const data = response.json['data'] as {
        id: string;
        payout: { state: string } | null;
        error: { code: string } | null;
      }[];
      assert.deepEqual(
        data.map(({ id, payout, error }) => [id, payout?.state ?? error?.code]),
        [
          ...payouts.map(({ id }) => [id, 'released']),
          [mine.json['id'], 'approval_self'],
          ['pay_unknown', 'payout_not_found'],
        ],
      );
      for (const payout of payouts) await untilPayoutState(testEnv, payout, 'succeeded');
      assert.equal((await releaseMany(own, ids, key)).text, response.text);
      for (const payout of payouts) assert.equal(await transfersAccepted(testEnv, payout), 1);
    });

    it('counts as released when the same person releases it again, and each refusal is in the audit log', async () => {
      const merchant = await fundedMerchant();
      const payout = await requestPayout(testEnv, '000', { merchant });
      const own = await logInAs(testEnv, merchant.id, 'maker', 'approver');
      const json = collectionFields({ phone: phoneFor('000') });
      const mine = await own.call('POST', '/v1/api/payouts', { json, idempotencyKey: randomUUID() });
      const ids = [payout.id, String(mine.json['id'])];
      for (let time = 1; time <= 2; time++) {
        const form = new URLSearchParams(ids.map((id): [string, string] => ['ids', id]));
        const response = await own.call('POST', '/v1/console/payouts/release', { form, idempotencyKey: randomUUID() });
        const data = response.json['data'] as { payout: unknown; error: { code: string } | null }[];
        const codes = data.map(({ error }) => error?.code ?? null);
        assert.deepEqual(codes, [null, 'approval_self']);
      }
      const { rows } = await testEnv.db.pool.query(
        `SELECT 1 FROM audit_entries WHERE subject_id = $1 AND outcome = 'refused'`,
        [mine.json['id']],
      );
      assert.equal(rows.length, 2);
    });

    it('is named only once, and at most a hundred are named', async () => {
      const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
      for (const ids of [[], ['pay_1', 'pay_1'], Array.from({ length: 101 }, (_, n) => `pay_${n}`)]) {
        assertError(await releaseMany(approver, ids), 'parameter_invalid');
      }
    });
  });
});
