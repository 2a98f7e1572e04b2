// Many calls with one key at the same instant: one payment, one prompt, one answer.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { call, collectionFields, type ApiResponse } from '../../support/api.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../../support/test-environment.ts';
import { phoneFor, sandboxTransactions } from '../../support/payments.ts';
import { assertError } from '../responses.ts';

describe('calls with one idempotency key at the same instant', () => {
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment();
  });
  after(() => testEnv.stop());

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
  const rowsOf = async (idempotencyKey: string) =>
    (await testEnv.db.pool.query('SELECT 1 FROM collections WHERE idempotency_key = $1', [idempotencyKey])).rowCount;

  /** The one text that all that were accepted have; fails when anything but accepted or in flight was answered. */
  function theOneAnswer(responses: readonly ApiResponse[]): ApiResponse {
    const accepted = responses.filter(({ status }) => status === 202);
    for (const response of responses) if (response.status !== 202) assertError(response, 'idempotency_key_in_flight');
    assert.equal(new Set(accepted.map(({ text }) => text)).size, 1);
    const first = accepted.filter(({ headers }) => headers.get('idempotent-replayed') === null);
    assert.equal(first.length, 1, 'one of them is not a repetition');
    return first[0]!;
  }

  async function assertRangOnce(phone: string, idempotencyKey: string): Promise<void> {
    assert.equal(await rowsOf(idempotencyKey), 1);
    const [transaction, ...others] = await sandboxTransactions(testEnv, phone);
    assert.deepEqual([transaction?.requestsReceived, transaction?.promptsRaised, others.length], [1, 1, 0]);
  }

  for (const count of [2, 50]) {
    it(`${count} of them, alike, ring the phone once and are paid once`, async () => {
      const [idempotencyKey, phone] = [randomUUID(), phoneFor('100')];
      const responses = await Promise.all(Array.from({ length: count }, () => create(idempotencyKey, { phone })));
      const { json, text } = theOneAnswer(responses);
      await untilPaid(json['id']);
      await assertRangOnce(phone, idempotencyKey);
      const again = await create(idempotencyKey, { phone });
      assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [text, 'true']);
    });
  }

  it('fifty of them, all different: one wins, the others are told, and one phone rings', async () => {
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
    const rung = await Promise.all(phones.map((phone) => sandboxTransactions(testEnv, phone)));
    assert.deepEqual(
      rung.flatMap((transactions, n) => transactions.map(() => phones[n])),
      [winner.json['phone']],
    );
  });

  it('is the same to a merchant who goes on asking until he is answered', async () => {
    const [idempotencyKey, phone] = [randomUUID(), phoneFor('100')];
    const persist = () =>
      eventually('an answer', async () => {
        const response = await create(idempotencyKey, { phone });
        return response.status === 202 ? response : null;
      });
    const responses = await Promise.all(Array.from({ length: 10 }, persist));
    const { json } = theOneAnswer(responses);
    await untilPaid(json['id']);
    await assertRangOnce(phone, idempotencyKey);
  });

  it('that is used anew after its time begins a payment that is carried out too', async () => {
    const [idempotencyKey, phone] = [randomUUID(), phoneFor('100')];
    const first = await create(idempotencyKey, { phone });
    await untilPaid(first.json['id']);
    await testEnv.db.pool.query("UPDATE idempotency_keys SET created_at = now() - interval '31 days' WHERE key = $1", [
      idempotencyKey,
    ]);
    const second = await create(idempotencyKey, { phone, amount: 7000 });
    assert.notEqual(second.json['id'], first.json['id']);
    await untilPaid(second.json['id']);
    assert.equal((await sandboxTransactions(testEnv, phone)).length, 2);
  });
});
