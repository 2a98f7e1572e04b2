// Answers of the operator that come late: an answer decides by the time at which it was asked for, not when it arrives.
import assert from 'node:assert/strict';
import { json } from '../operators/stub-operator.ts';
import { eventually } from '../support/test-environment.ts';
import { pay, untilState } from '../support/payments.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const RECONCILE_FOR_MS = 8000;

describe('an answer that the operator gives late', () => {
  const operator = useFixture(startScriptedOperator);
  const useEnvironment = (changes: Readonly<Record<string, string>>) =>
    useTestEnvironment(() => ({
      mtnMomoUrl: operator.url,
      environment: {
        MALIPO_POLL_SCHEDULE_MS: '100',
        MALIPO_PROMPT_WINDOW_MS: '400',
        MALIPO_RECONCILE_SCHEDULE_MS: '100',
        ...changes,
      },
    }));
  const slowEnv = useEnvironment({
    MALIPO_RECONCILE_FOR_MS: String(RECONCILE_FOR_MS),
    MALIPO_OPERATOR_TIMEOUT_MS: '60000',
    MALIPO_NOT_FOUND_GRACE_MS: '61000',
  });
  const sweptEnv = useEnvironment({
    MALIPO_RECONCILE_FOR_MS: '400',
    MALIPO_SWEEP_EVERY_MS: '1000',
    MALIPO_LATE_CHECK_AGES_MS: '500,1000,2000,4000,8000,16000,32000',
  });
  beforeEach(() => {
    operator.answerStatusQueries(null);
    operator.setStatus({ status: 'PENDING' });
  });
  after(() => operator.stop());

  it('does not expire a collection when it was asked for before the reconciliation ended', async () => {
    const payment = await pay(slowEnv, '000');
    await untilState(slowEnv, payment, 'reconciling');
    const { rows } = await slowEnv.db.pool.query<{ at: Date }>(
      'SELECT prompt_expires_at AS at FROM payments WHERE id = $1',
      [payment.id],
    );
    const reconciledUntilMs = Number(rows[0]?.at.getTime()) + RECONCILE_FOR_MS;
    const held: (() => void)[] = [];
    operator.answerStatusQueries((response) => {
      assert.ok(Date.now() < reconciledUntilMs, 'the query that is held was made in time');
      const { amount } = payment;
      const body = {
        amount: String(amount),
        currency: 'UGX',
        externalId: payment.operatorReference,
        status: 'PENDING',
      };
      held.push(() => {
        json(200, body)(response);
      });
    });
    await eventually('a status query', () => held.length > 0);
    await eventually('the end of the reconciliation', () => Date.now() > reconciledUntilMs);
    operator.setStatus({ status: 'SUCCESSFUL' });
    operator.answerStatusQueries(null);
    for (const answer of held) answer();
    await untilState(slowEnv, payment, 'succeeded');
    assert.deepEqual(transitionsOf(await untilAllReceived(slowEnv, payment)), [
      'initiated > prompted',
      'prompted > reconciling',
      'reconciling > succeeded late',
    ]);
  });

  it('makes a collection fail late that had expired without any outcome', async () => {
    const payment = await pay(sweptEnv, '000');
    const expired = await untilState(sweptEnv, payment, 'expired');
    assert.equal(expired.failure?.code, 'unknown');
    operator.setStatus({ status: 'FAILED', reason: 'PAYER_LIMIT_REACHED' });
    const failed = await untilState(sweptEnv, payment, 'failed');
    assert.equal(failed.failure?.code, 'payer_limit_reached');
    assert.equal(transitionsOf(await untilAllReceived(sweptEnv, payment)).at(-1), 'expired > failed late');
  });
});
