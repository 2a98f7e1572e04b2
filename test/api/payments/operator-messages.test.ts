// Messages of operators over HTTP: acknowledged at once in the operator's own words, stored with their purpose, and believed by nobody here.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { MessagePurpose } from '../../../src/domain/payments/operator-catalogue.ts';
import { insertOperatorQuery } from '../../../src/db/payments/operator-message.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import { messagePath } from '../../../src/security/callback-token.ts';
import { ATTESTATION_RING } from '../../support/attestation.ts';
import { call, collectionFields, type ApiResponse, type CallOptions } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { allRows, countRows, oneRow, tamper } from '../../db/rows.ts';
import { API_ONLY, assertError } from '../responses.ts';

const PAID = { Body: { stkCallback: { ResultCode: 0, CheckoutRequestID: 'ws_CO_1' } } };

describe('a message of an operator', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const pathOf = (purpose: MessagePurpose, id: string) => messagePath('daraja', purpose, id, ATTESTATION_RING);
  const send = (path: string, options: CallOptions = { json: PAID }): Promise<ApiResponse> =>
    call(testEnv.baseUrl, 'POST', path, { idempotencyKey: null, ...options });

  async function newPayment(): Promise<{ readonly ref: PaymentRef; readonly reference: string }> {
    const { json } = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: testEnv.merchant.key,
      json: collectionFields(),
    });
    const id = String(json['id']);
    await tamper(testEnv.db, `UPDATE payments SET operator = 'daraja', sends_once = true WHERE id = $1`, [id]);
    const { merchant_id: merchantId } = await oneRow<{ merchant_id: string }>(
      testEnv.db,
      'SELECT merchant_id FROM payments WHERE id = $1',
      [id],
    );
    const ref = { kind: 'collection', id, merchantId } as PaymentRef;
    return { ref, reference: String(json['operator_reference']) };
  }

  const storedOf = ({ id }: PaymentRef) =>
    allRows(
      testEnv.db,
      `SELECT purpose, query_id, body, attestation IS NOT NULL AS attested, read_at FROM operator_callbacks
       WHERE payment_id = $1 ORDER BY id`,
      [id],
    );

  function assertAcknowledged(response: ApiResponse): void {
    assert.equal(response.status, 200, response.text);
    assert.deepEqual(response.json, { ResultCode: 0, ResultDesc: 'Accepted' });
  }

  for (const purpose of ['result', 'timeout'] as const) {
    it(`is stored with the purpose ${purpose} of the address of its payment, and changes nothing`, async () => {
      const { ref, reference } = await newPayment();
      assertAcknowledged(await send(pathOf(purpose, reference)));
      const stored = { purpose, query_id: null, body: JSON.stringify(PAID), attested: true, read_at: null };
      assert.deepEqual(await storedOf(ref), [stored]);
      const { json } = await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${ref.id}`, {
        key: testEnv.merchant.key,
      });
      assert.equal(json['state'], 'initiated');
    });
  }

  it('to the address of a query is stored with the payment of the query, which is answered by the first', async () => {
    const { ref } = await newPayment();
    const id = randomUUID();
    await insertOperatorQuery(testEnv.db, ref, { id, askedAt: new Date(), seenMessageId: 0n });
    const answeredAt = async () =>
      (
        await oneRow<{ at: Date | null }>(testEnv.db, 'SELECT answered_at AS at FROM operator_queries WHERE id = $1', [
          id,
        ])
      ).at;
    assertAcknowledged(await send(pathOf('query', id)));
    const first = await answeredAt();
    assertAcknowledged(await send(pathOf('query', id)));
    assert.ok(first !== null);
    assert.deepEqual([await answeredAt(), (await storedOf(ref)).length], [first, 2]);
  });

  it('is refused at an address that we did not make, or made for another purpose', async () => {
    const { ref, reference } = await newPayment();
    const token = pathOf('result', reference).slice(-64);
    for (const path of [
      `/operators/daraja/timeout/${token}`,
      `/operators/daraja/status/${token}`,
      `/operators/daraja/result/${'0'.repeat(64)}`,
    ]) {
      assertError(await send(path), 'permission_denied');
    }
    assert.deepEqual(await storedOf(ref), []);
  });

  it('is kept whose payment or query is not on record', async () => {
    const [reference, query] = [randomUUID(), randomUUID()];
    assertAcknowledged(await send(pathOf('result', reference)));
    assertAcknowledged(await send(pathOf('query', query)));
    for (const id of [reference, query])
      assert.equal(await countRows(testEnv.db, 'operator_callbacks WHERE operator_reference = $1', [id]), 1);
  });

  it('is acknowledged and stored whatever it holds', async () => {
    const { ref, reference } = await newPayment();
    for (const body of ['<html>', '', '[1]', '{"ResultCode":']) {
      assertAcknowledged(await send(pathOf('result', reference), { raw: { type: 'text/plain', body } }));
    }
    assert.equal((await storedOf(ref)).length, 4);
  });
});
