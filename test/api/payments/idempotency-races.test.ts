// Concurrent calls with one idempotency key: one payment, one prompt, one response.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { call, collectionFields, type ApiResponse } from '../../support/api.ts';
import { eventually } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { phoneFor } from '../../support/payments.ts';
import { sandboxTransactions } from '../../support/sandbox-operator.ts';
import { assertError } from '../responses.ts';
import { expireIdempotencyKey, countRows } from '../../db/rows.ts';

describe('concurrent calls with one idempotency key', () => {
  const testEnv = useTestEnvironment();

  const create = (idempotencyKey: string, fields: Record<string, unknown>) =>
    call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: testEnv.merchant.key,
      idempotencyKey,
      json: collectionFields(fields),
    });
  const stateOf = async (id: unknown) =>
    (await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${String(id)}`, { key: testEnv.merchant.key })).json[
      'state'
    ];
  const untilPaid = (id: unknown) => eventually('the payment', async () => (await stateOf(id)) === 'succeeded');
  const rowsOf = (idempotencyKey: string) =>
    countRows(testEnv.db, 'payments WHERE idempotency_key = $1', [idempotencyKey]);

  /** The first of the accepted responses, which all have one text; fails unless every other response is "in flight". */
  function firstAccepted(responses: readonly ApiResponse[]): ApiResponse {
    const accepted = responses.filter(({ status }) => status === 202);
    for (const response of responses) if (response.status !== 202) assertError(response, 'idempotency_key_in_flight');
    assert.equal(new Set(accepted.map(({ text }) => text)).size, 1);
    const first = accepted.filter(({ headers }) => headers.get('idempotent-replayed') === null);
    assert.equal(first.length, 1, 'exactly one of them is not a repetition');
    return first[0]!;
  }

  async function assertPromptedOnce(phone: string, idempotencyKey: string): Promise<void> {
    assert.equal(await rowsOf(idempotencyKey), 1);
    const [transaction, ...others] = await sandboxTransactions(testEnv, phone);
    assert.deepEqual([transaction?.requestsReceived, transaction?.promptsRaised, others.length], [1, 1, 0]);
  }

  for (const count of [2, 50]) {
    it(`create one payment and raise one prompt when ${count} are alike`, async () => {
      const [idempotencyKey, phone] = [randomUUID(), phoneFor('100')];
      const responses = await Promise.all(Array.from({ length: count }, () => create(idempotencyKey, { phone })));
      const { json, text } = firstAccepted(responses);
      await untilPaid(json['id']);
      await assertPromptedOnce(phone, idempotencyKey);
      const again = await create(idempotencyKey, { phone });
      assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [text, 'true']);
    });
  }

  it('create one payment and raise one prompt when fifty differ, and the others are refused', async () => {
    const idempotencyKey = randomUUID();
    const phones = Array.from({ length: 50 }, () => phoneFor('100'));
    const responses = await Promise.all(phones.map((phone, n) => create(idempotencyKey, { phone, amount: 1000 + n })));
    const [winner, ...others] = responses.filter(({ status }) => status === 202);
    assert.ok(winner);
    assert.equal(others.length, 0);
    for (const response of responses) {
      if (response === winner) continue;
      const { code } = response.json.error!;
      assertError(response, code === 'idempotency_key_reused' ? code : 'idempotency_key_in_flight');
    }
    await untilPaid(winner.json['id']);
    const transactionsByPhone = await Promise.all(phones.map((phone) => sandboxTransactions(testEnv, phone)));
    const charged = transactionsByPhone.flatMap((transactions, n) => transactions.map(() => phones[n]));
    assert.deepEqual(charged, [winner.json['phone']]);
  });

  it('give the same response to every caller that retries until it is accepted', async () => {
    const [idempotencyKey, phone] = [randomUUID(), phoneFor('100')];
    const retryUntilAccepted = () =>
      eventually('an accepted response', async () => {
        const response = await create(idempotencyKey, { phone });
        return response.status === 202 ? response : null;
      });
    const responses = await Promise.all(Array.from({ length: 10 }, retryUntilAccepted));
    const { json } = firstAccepted(responses);
    await untilPaid(json['id']);
    await assertPromptedOnce(phone, idempotencyKey);
  });

  it('carry out a new payment when the key is used again after its 30 days', async () => {
    const [idempotencyKey, phone] = [randomUUID(), phoneFor('100')];
    const first = await create(idempotencyKey, { phone });
    await untilPaid(first.json['id']);
    await expireIdempotencyKey(testEnv.db, idempotencyKey);
    const second = await create(idempotencyKey, { phone });
    assert.notEqual(second.json['id'], first.json['id']);
    await untilPaid(second.json['id']);
    assert.equal((await sandboxTransactions(testEnv, phone)).length, 2);
  });
});
