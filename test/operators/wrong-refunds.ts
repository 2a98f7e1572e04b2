// What every adapter must make of refunds that cannot be paid: none is paid.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RefundCapabilities } from '../../src/domain/payments/operator-catalogue.ts';
import { sentAs } from '../support/sent-payment.ts';
import {
  asOriginal,
  collected,
  directionsOf,
  final,
  send,
  statusOf,
  type AdapterHarness,
  type PaidCollection,
} from './directions.ts';

/** A refund that is sent once is refused only if the operator does not know the collection. */
export function refusesWrongRefunds({ send: sends }: RefundCapabilities, harness: () => AdapterHarness): void {
  const never = sends === 'idempotent' ? 'not_found' : 'unknown';
  const asAsked = (original: PaidCollection) => {
    const request = { operatorReference: randomUUID(), ...asOriginal(original), note: 'Refund' };
    return { ...request, money: harness().money };
  };

  async function refuse(original: PaidCollection): Promise<void> {
    const request = asAsked(original);
    const outcome = await harness().operator.refundCollection(request);
    assert.ok(outcome.kind === 'refused', JSON.stringify(outcome));
    assert.equal(outcome.code, 'operator_rejected');
    const { operatorReference, originalOperatorReference } = request;
    const refund = { ...sentAs(operatorReference), originalOperatorReference };
    assert.equal((await harness().operator.getRefundStatus(refund)).kind, never);
  }

  it('returns refused for a refund of an unknown or an unpaid collection', async () => {
    await refuse({ reference: randomUUID(), receipt: 'CI1' });
    const [collection] = directionsOf(harness().operator.id);
    const reference = randomUUID();
    await send(collection, harness(), '001', reference);
    await final(() => statusOf(collection, harness(), reference));
    await refuse({ reference, receipt: 'CI1' });
  });

  it('does not accept a second refund under another reference', async () => {
    const original = await collected(harness(), '500');
    const { operator } = harness();
    assert.deepEqual(await operator.refundCollection(asAsked(original)), { kind: 'accepted' });
    if (sends === 'idempotent') await refuse(original);
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
