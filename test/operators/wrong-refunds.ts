// What every adapter must make of refunds that cannot be paid: none is paid.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RefundCapabilities } from '../../src/domain/payments/operator-catalogue.ts';
import type { SendOutcome } from '../../src/operators/port.ts';
import { until } from '../sandbox/sandbox-harness.ts';
import { sentAs } from '../support/sent-payment.ts';
import {
  asOriginal,
  collected,
  directionsOf,
  final,
  issuedIdOf,
  send,
  statusOf,
  type AdapterHarness,
  type PaidCollection,
} from './directions.ts';

/**
 * A refund that is sent once is refused only if the operator does not know the collection. One whose result is a message is accepted, and
 * the message does not say that it is paid.
 */
export function refusesWrongRefunds({ send: sends, status }: RefundCapabilities, harness: () => AdapterHarness): void {
  const never = sends === 'idempotent' ? 'not_found' : 'unknown';
  const asAsked = (original: PaidCollection) => {
    const request = { operatorReference: randomUUID(), ...asOriginal(original), note: 'Refund' };
    return { ...request, money: harness().money };
  };

  async function refuse(original: PaidCollection): Promise<void> {
    const request = asAsked(original);
    const outcome = await harness().operator.refundCollection(request);
    if (status === 'by_callback') {
      await staysUnpaid(outcome, request.operatorReference);
      return;
    }
    assert.ok(outcome.kind === 'refused', JSON.stringify(outcome));
    assert.equal(outcome.code, 'operator_rejected');
    const { operatorReference, originalOperatorReference } = request;
    const refund = { ...sentAs(operatorReference), originalOperatorReference };
    assert.equal((await harness().operator.getRefundStatus(refund)).kind, never);
  }

  async function staysUnpaid(outcome: SendOutcome, reference: string): Promise<void> {
    assert.equal(outcome.kind, 'accepted');
    const [message] = await until(
      () => harness().messages?.('result', reference, 'refund') ?? [],
      ({ length }) => length > 0,
    );
    assert.equal(message?.status.kind, 'unknown');
  }

  it('pays no refund of an unknown or an unpaid collection', async () => {
    await refuse({ reference: randomUUID(), receipt: 'CI1' });
    const [collection] = directionsOf(harness().operator.id);
    const reference = randomUUID();
    const issuedId = issuedIdOf(await send(collection, harness(), '001', reference));
    await final(() => statusOf(collection, harness(), reference, issuedId));
    await refuse({ reference, receipt: 'CI1' });
  });

  it('pays no second refund under another reference', async () => {
    const original = await collected(harness(), '500');
    const { operator } = harness();
    assert.equal((await operator.refundCollection(asAsked(original))).kind, 'accepted');
    if (sends === 'idempotent' || status === 'by_callback') await refuse(original);
    else assert.equal((await operator.refundCollection(asAsked(original))).kind, 'unknown');
  });
}

export function refusesEveryRefund(harness: () => AdapterHarness): void {
  it('returns refused for every refund, of which nothing is sent', async () => {
    const { operator, money } = harness();
    const [original, operatorReference] = [randomUUID(), randomUUID()];
    const request = {
      operatorReference,
      ...asOriginal({ reference: original, receipt: 'CI1' }),
      money,
      note: 'Refund',
    };
    assert.equal((await operator.refundCollection(request)).kind, 'refused');
    const refund = { ...sentAs(operatorReference), originalOperatorReference: original };
    assert.deepEqual(await operator.getRefundStatus(refund), { kind: 'not_found' });
    assert.deepEqual(await harness().seen(operatorReference), { requestsReceived: 0, timesAccepted: 0 });
  });
}
