// A payout that the operator refuses for our float: it is sent again later, once in each generation, and only on the evidence that would
// record that it failed.
import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { findPaymentByOperatorReference } from '../../../src/db/payments/payment.ts';
import { listWaitingForFloat } from '../../../src/db/payments/send-generation.ts';
import { measureBacklog } from '../../../src/db/work/backlog.ts';
import { laterReferenceOf } from '../../../src/domain/payments/operator-reference.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import { isCancellable } from '../../../src/domain/payments/release.ts';
import { sentReferenceOf } from '../../../src/domain/payments/send-generation.ts';
import { recordTransition } from '../../../src/operations/payments/record-transition.ts';
import type { PayoutRequest, SendOutcome, SentPayment, StatusOutcome } from '../../../src/operators/port.ts';
import { queryWhatIsDue, testActivities, workerDeps } from '../../support/payment-activities.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { contextOf, tamper, TEST_CLOCKS } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { findWork } from '../work-rows.ts';
import { balanceOf, decide, makePayout, makeShop } from './payout-rows.ts';

const FLOAT_LOW = { code: 'operator_unavailable', operatorCode: 'NOT_ENOUGH_FUNDS', isFloatLow: true } as const;
const REFUSED: SendOutcome = { kind: 'refused', ...FLOAT_LOW };
const FAILED: StatusOutcome = { kind: 'failed', ...FLOAT_LOW };
const ACCEPTED: SendOutcome = { kind: 'accepted' };
const UNKNOWN: SendOutcome = { kind: 'unknown', reason: 'timed out', cause: 'no_answer' };

describe('a payout that the operator refuses for our float', () => {
  const db = useDatabase();
  const shop = useFixture(() => makeShop(db, 1_000_000n));
  let sends: string[];
  let asked: string[];
  let answer: () => Promise<SendOutcome>;
  let status: () => StatusOutcome;
  let ref: PaymentRef<'payout'>;
  let first: string;
  /** Each pause is over at once. */
  const clocks = { ...TEST_CLOCKS, floatPausesMs: [0], minimumQueryGapMs: 0 };

  const deps = () => {
    const operator = {
      sendPayout({ operatorReference }: PayoutRequest) {
        sends.push(operatorReference);
        return answer();
      },
      getPayoutStatus({ operatorReference }: SentPayment) {
        asked.push(operatorReference);
        return Promise.resolve(status());
      },
    };
    return { ...workerDeps(db, { operators: { 'mtn-momo': operator }, clocks }), payments: contextOf(db, clocks) };
  };
  const activities = () => testActivities(deps());
  const send = () => activities().sendWithOperator(ref);
  const ask = () => activities().queryStatusWithOperator(ref);
  const load = () => getPayout(db, ref.merchantId, ref.id);
  const later = (number: number) => laterReferenceOf(first, number);

  beforeEach(async () => {
    sends = [];
    asked = [];
    answer = () => Promise.resolve(ACCEPTED);
    status = () => ({ kind: 'pending' });
    const { id, merchantId, operatorReference } = await makePayout(db, shop, 'released');
    ref = { kind: 'payout', id, merchantId };
    first = operatorReference;
  });

  it('waits, released and unsent, under a reference of its own, and is sent again once', async () => {
    status = () => FAILED;
    await send();
    const { snapshot } = await ask();
    assert.ok(snapshot.state === 'released' && 'sendAgainAtMs' in snapshot);
    const waiting = await load();
    assert.deepEqual([waiting.state, waiting.sendBegunAt, waiting.acceptedAt], ['released', null, null]);
    assert.deepEqual([waiting.operatorReference, sentReferenceOf(waiting)], [first, later(2)]);
    assert.equal(await findWork(db, ref.id, 'status_query'), null);
    status = () => ({ kind: 'succeeded', receipt: `R-${ref.id}` });
    await Promise.allSettled([send(), send()]);
    await ask();
    assert.deepEqual([(await load()).state, new Set(sends)], ['succeeded', new Set([first, later(2)])]);
    assert.equal(asked.at(-1), later(2));
  });

  it('waits too if the send itself is refused, and only if nobody tried twice', async () => {
    answer = () => Promise.resolve(REFUSED);
    await send();
    assert.equal(sentReferenceOf(await load()), later(2));
    answer = () => Promise.resolve(UNKNOWN);
    await assert.rejects(send(), ApplicationFailure);
    answer = () => Promise.resolve(REFUSED);
    assert.deepEqual(await send(), { kind: 'no_outcome' });
    assert.deepEqual([sentReferenceOf(await load()), sends], [later(2), [first, later(2), later(2)]]);
  });

  it('gets one generation more for each refusal, however often the operator repeats it', async () => {
    status = () => FAILED;
    await send();
    await Promise.all([ask(), ask(), ask()]);
    assert.equal((await load()).generation?.number, 2);
    await ask();
    assert.equal((await load()).generation?.number, 2);
    await send();
    await ask();
    assert.deepEqual([(await load()).generation?.number, sends], [3, [first, later(2)]]);
  });

  it('is not changed by an answer about an earlier generation that comes late', async () => {
    await send();
    status = () => FAILED;
    await ask();
    let isSent = false;
    // While the operator is asked about the second generation, it refuses it, and the third is sent.
    await send();
    const outer = deps();
    const late = testActivities({
      ...outer,
      operators: {
        'mtn-momo': {
          async getPayoutStatus() {
            await ask();
            await send();
            isSent = true;
            return { kind: 'failed', code: 'payer_not_found', operatorCode: 'PAYEE_NOT_FOUND' } as const;
          },
        },
      },
    });
    await late.queryStatusWithOperator(ref);
    assert.ok(isSent);
    const { state, generation, acceptedAt } = await load();
    assert.deepEqual([state, generation?.number, acceptedAt !== null], ['released', 3, true]);
    assert.deepEqual(sends, [first, later(2), later(3)]);
  });

  it('is not sent again by a process that read it before its next generation', async () => {
    answer = async () => {
      // The first try is in progress, and another process finds that the operator has refused it.
      answer = () => Promise.resolve(ACCEPTED);
      status = () => FAILED;
      await ask();
      await send();
      return UNKNOWN;
    };
    await assert.rejects(send(), ApplicationFailure);
    await send();
    assert.deepEqual(sends, [first, later(2), later(2)]);
    assert.equal((await load()).generation?.number, 2);
  });

  it('waits when the queue finds the refusal, and its workflow is told', async () => {
    await send();
    await tamper(db, `UPDATE work SET due_at = now() WHERE id = $1 AND task = 'status_query'`, [ref.id]);
    await tamper(db, `UPDATE work SET is_started = true WHERE id = $1 AND task = 'workflow'`, [ref.id]);
    status = () => FAILED;
    await queryWhatIsDue(db, deps());
    assert.equal((await load()).generation?.number, 2);
    const work = await db.pool.query(`SELECT is_started FROM work WHERE id = $1 AND task = 'workflow'`, [ref.id]);
    assert.deepEqual(work.rows, [{ is_started: false }]);
  });

  it('is not sent before the pause is over', async () => {
    status = () => FAILED;
    await send();
    const paused = { ...clocks, floatPausesMs: [60_000] };
    await testActivities({ ...deps(), payments: contextOf(db, paused) }).queryStatusWithOperator(ref);
    assert.deepEqual(await send(), { kind: 'no_outcome' });
    assert.deepEqual([sends, (await load()).sendBegunAt], [[first], null]);
  });

  it('fails as the operator’s outage where it was not sent again before its send deadline, and its money is available again', async () => {
    const [available, held] = await balanceOf(db, shop.merchantId);
    status = () => FAILED;
    await send();
    await ask();
    const { sendDeadlineAt } = await load();
    const at = sendDeadlineAt ?? new Date();
    const { payment } = await recordTransition(contextOf(db), {
      ...{ ref, transition: { kind: 'never_sent' }, at, basis: null },
    });
    assert.deepEqual([payment.state, payment.failureCode], ['failed', 'operator_unavailable']);
    assert.deepEqual(await balanceOf(db, shop.merchantId), [available + 1000n, held - 1000n]);
  });

  it('fails at once where the refusal comes after its send deadline', async () => {
    await send();
    status = () => FAILED;
    await tamper(db, `UPDATE payments SET send_deadline_at = date_trunc('milliseconds', now()) WHERE id = $1`, [
      ref.id,
    ]);
    const attestation = contextOf(db).releases.attestRelease(await load());
    await tamper(db, 'UPDATE payments SET release_attestation = $2 WHERE id = $1', [ref.id, attestation]);
    await ask();
    const { state, failureCode } = await load();
    assert.deepEqual([state, failureCode], ['failed', 'operator_unavailable']);
  });

  it('fails at once where the operator refuses the payout for any other reason', async () => {
    await send();
    status = () => ({ kind: 'failed', code: 'operator_unavailable', operatorCode: 'X' });
    await ask();
    assert.equal((await load()).state, 'failed');
  });

  it('may be cancelled by its maker while it waits', async () => {
    status = () => FAILED;
    await send();
    assert.equal(isCancellable(await load()), false);
    await ask();
    assert.equal(isCancellable(await load()), true);
    assert.equal((await decide(db, shop.maker, ref.id, { kind: 'cancel' })).state, 'cancelled');
    assert.deepEqual(await send(), { kind: 'no_outcome' });
    assert.deepEqual(sends, [first]);
  });

  it('is found by each of its references, is counted as waiting, and is no backlog', async () => {
    status = () => FAILED;
    await send();
    await ask();
    for (const reference of [first, later(2)]) {
      const found = await findPaymentByOperatorReference(db, 'mtn-momo', reference);
      assert.equal(found?.id, ref.id);
      assert.equal(await findPaymentByOperatorReference(db, 'daraja', reference), null);
    }
    assert.ok((await listWaitingForFloat(db)).some(({ operator, count }) => operator === 'mtn-momo' && count > 0));
    const backlog = await measureBacklog(db, { limit: 100, lateAfterMs: 0 });
    assert.deepEqual(
      backlog.filter(({ merchantId }) => merchantId === ref.merchantId),
      [],
    );
  });

  it('is neither sent nor freed where somebody wrote its next generation by hand', async () => {
    await send();
    await db.pool.query(
      `INSERT INTO send_generations VALUES ($1, 2, $2, 'operator_unavailable', now(), now(), repeat('A', 43))`,
      [ref.id, later(2)],
    );
    await db.pool.query(
      'UPDATE payments SET send_generation = 2, send_begun_at = NULL, accepted_at = NULL WHERE id = $1',
      [ref.id],
    );
    await assert.rejects(send(), (error) => error instanceof ApplicationFailure && error.type === 'ApprovalMissing');
    status = () => ({ kind: 'failed', code: 'payer_not_found', operatorCode: 'PAYEE_NOT_FOUND' });
    await ask();
    status = () => FAILED;
    await ask();
    await assert.rejects(decide(db, shop.maker, ref.id, { kind: 'cancel' }), /the service did not record that/);
    const { state, generation } = await load();
    assert.deepEqual([state, generation?.number, sends], ['released', 2, [first]]);
  });
});
