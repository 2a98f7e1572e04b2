// The Airtel adapter beside an operator that restarts, and so knows no token and has another key.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { marketOf } from '../../../src/domain/payments/operator-catalogue.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { createAirtelMoney } from '../../../src/operators/airtel-money/airtel-money.ts';
import { transactionIdOf } from '../../../src/operators/airtel-money/transaction-id.ts';
import { AIRTEL, countsOf, startTestSandbox, until, wireClient } from '../../sandbox/sandbox-harness.ts';
import { ONE_CALL, sentAs } from '../../support/sent-payment.ts';

describe('the Airtel adapter', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'airtel-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('goes on after the operator has restarted, which still knows every payment', async () => {
    const config = { airtel: AIRTEL, dataFile: join(folder, 'journal.jsonl') };
    const first = await startTestSandbox(config);
    const { clientId, clientSecret, pin } = AIRTEL;
    const operator = createAirtelMoney({
      baseUrl: first.url,
      credentials: { clientId, clientSecret },
      pin,
      market: marketOf('airtel-money', 'UG'),
      requestTimeoutMs: 20_000,
      connections: 2,
      tokens: ownTokens(),
    });
    const payout = {
      operatorReference: randomUUID(),
      phone: '256752123010',
      money: { amountMinor: 500n, currency: 'UGX' },
      payeeMessage: 'Wages',
    } as const;
    assert.deepEqual(await operator.sendPayout(payout), { kind: 'accepted' });
    const prompt = {
      operatorReference: randomUUID(),
      phone: '256752123500',
      money: { amountMinor: 500n, currency: 'UGX' },
      payerMessage: 'Order 17',
    } as const;
    await operator.raisePrompt(prompt);
    const paid = await until(
      () => operator.getCollectionStatus(sentAs(prompt.operatorReference), ONE_CALL),
      ({ kind }) => kind === 'succeeded',
    );
    const receipt = paid.kind === 'succeeded' ? paid.receipt : null;
    await first.stop();
    const second = await startTestSandbox({ ...config, port: Number(new URL(first.url).port) });
    assert.deepEqual(await operator.sendPayout(payout), { kind: 'accepted', isRepeated: true });
    assert.equal((await operator.getPayoutStatus(sentAs(payout.operatorReference))).kind, 'pending');
    const counts = await countsOf(wireClient(second), transactionIdOf(payout.operatorReference));
    assert.deepEqual(counts, { requestsReceived: 2, timesAccepted: 1 });
    // The refund of a collection that was paid before.
    const refund = {
      operatorReference: randomUUID(),
      originalOperatorReference: prompt.operatorReference,
      originalReceipt: receipt,
      money: prompt.money,
      note: 'Refund',
    };
    assert.deepEqual(await operator.refundCollection(refund), { kind: 'accepted' });
    const refunded = await until(
      () => operator.getRefundStatus({ ...sentAs(refund.operatorReference), ...refund }),
      ({ kind }) => kind === 'succeeded',
    );
    assert.equal(refunded.kind, 'succeeded');
    await operator.close();
    await second.stop();
  });
});
