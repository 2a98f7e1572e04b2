// Work whose workflow Temporal refuses to start: it stops nobody else's, backs off, and is shown to the service's staff.
import { randomUUID } from 'node:crypto';
import type { CollectionId } from '../../src/domain/ids.ts';
import { makeCollection, oneRow, tamper } from '../db/rows.ts';
import { call, collectionFields } from '../support/api.ts';
import { pay, phoneFor, untilState } from '../support/payments.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

// More than one batch of the dispatcher.
const UNSTARTABLE = 150;

describe('work that Temporal refuses to start', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  const refused: CollectionId[] = [];
  let healthyId: CollectionId;

  before(async () => {
    const { db } = testEnv;
    const { id: merchantId } = await testEnv.addMerchant();
    // As old as work can be whose prompt may still be raised.
    const createdAt = new Date(Date.now() - 280_000);
    for (let i = 0; i < UNSTARTABLE; i++) {
      const fields = { createdAt, updatedAt: createdAt, promptDeadlineAt: new Date(Date.now() + 3_600_000) };
      refused.push((await makeCollection(db, merchantId, 'initiated', fields)).id);
    }
    // Its task queue has a name that Temporal does not take.
    await tamper(
      db,
      "UPDATE payments SET operator = repeat('x', 1100) WHERE kind = 'collection' AND merchant_id = $1",
      [merchantId],
    );
    healthyId = (await makeCollection(db, merchantId, 'initiated', { phone: phoneFor('000') })).id;
    await testEnv.startServer();
  });

  const stateOf = async (id: string) =>
    (await oneRow<{ state: string }>(testEnv.db, 'SELECT state FROM payments WHERE id = $1', [id])).state;

  it('does not keep younger work of the same merchant from its start', async () => {
    await eventually('the payment behind it', async () => (await stateOf(healthyId)) === 'succeeded');
  });

  it('does not keep the gate closed for others', async () => {
    // Until it is clear whose failure it is, the gate counts the refused work as late.
    const accepted = await eventually('the gate to be open', async () => {
      const response = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
        key: testEnv.merchant.key,
        idempotencyKey: randomUUID(),
        json: collectionFields({ phone: phoneFor('000') }),
      });
      return response.status === 202 && response;
    });
    await eventually('its success', async () => (await stateOf(String(accepted.json['id']))) === 'succeeded');
    await untilState(testEnv, await pay(testEnv, '000'), 'succeeded');
  });
});
