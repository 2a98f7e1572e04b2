// The check of payouts before any is created: what would be refused, who would pay, and what their keys made already.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { API_ONLY, assertError } from '../responses.ts';
import { collectionFields } from '../../support/api.ts';
import { phoneFor } from '../../support/payments.ts';
import { fund } from '../../support/payouts.ts';
import { logInAs } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { valuesOf } from '../../support/values-of.ts';

type Row = { readonly idempotency_keys: readonly string[]; readonly payout: Readonly<Record<string, unknown>> };
type Checked = {
  readonly errors: readonly { readonly param: string; readonly code: string }[];
  readonly operator: string | null;
  readonly payout: { readonly id: string; readonly state: string } | null;
  readonly idempotency_key: string | null;
  readonly judgement: { readonly warnings: readonly { readonly code: string; readonly payout_id?: string }[] } | null;
};

describe('the check of payouts', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let maker: Browser;
  before(async () => {
    maker = await logInAs(testEnv, testEnv.merchant.id, 'maker');
  });

  async function check(rows: readonly Row[]): Promise<Checked[]> {
    const { status, json, text } = await maker.call('POST', '/v1/console/payouts/check', { json: { rows } });
    assert.equal(status, 200, text);
    return json['data'] as Checked[];
  }
  const rowOf = (payout: Readonly<Record<string, unknown>>): Row => ({ idempotency_keys: [randomUUID()], payout });

  it('names everything that is wrong with each row, and the operator of those with nothing', async () => {
    const landline = '256414123456';
    const checked = await check([
      rowOf(collectionFields({ phone: phoneFor('000') })),
      rowOf({ ...collectionFields({ phone: '0772123456' }), amount: 12.5, colour: 'red' }),
      rowOf(collectionFields({ phone: landline, amount: 1 })),
      rowOf({ ...collectionFields({ phone: phoneFor('000'), amount: 1 }), reference: 7 }),
      rowOf(collectionFields({ phone: '256712123456', amount: 99_000_000, reference: '' })),
      rowOf({}),
    ]);
    const codes = checked.map(({ errors }) => errors.map(({ param, code }) => `${param} ${code}`).sort());
    assert.deepEqual(codes, [
      [],
      ['amount parameter_invalid', 'colour parameter_unknown', 'phone phone_invalid'],
      ['amount amount_out_of_bounds', 'phone phone_invalid'],
      ['amount amount_out_of_bounds', 'reference parameter_invalid'],
      ['amount amount_out_of_bounds', 'phone phone_unsupported', 'reference parameter_invalid'],
      ['amount parameter_missing', 'phone parameter_missing', 'reference parameter_missing'],
    ]);
    assert.deepEqual(valuesOf(checked, 'operator'), ['mtn-momo', null, null, null, null, null]);
  });

  it('makes nothing', async () => {
    const row = rowOf(collectionFields({ phone: phoneFor('000') }));
    await check([row]);
    const [again] = await check([row]);
    assert.deepEqual([again!.payout, again!.idempotency_key], [null, row.idempotency_keys[0]]);
    const { rows } = await testEnv.db.pool.query("SELECT 1 FROM payments WHERE kind = 'payout' AND merchant_id = $1", [
      testEnv.merchant.id,
    ]);
    assert.equal(rows.length, 0);
  });

  it('finds what was made under one of the keys, and the key that nothing was made or refused under', async () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const payout = collectionFields({ phone: phoneFor('000'), amount: 5000 });
    const row = { idempotency_keys: [first, second, third], payout };
    const make = (idempotencyKey: string) => maker.call('POST', '/v1/api/payouts', { json: payout, idempotencyKey });
    assertError(await make(first), 'balance_insufficient');
    assert.equal((await check([row]))[0]!.idempotency_key, second);
    await fund(testEnv, testEnv.merchant, 5000);
    const made = await make(second);
    assert.equal(made.status, 202, made.text);
    const [checked] = await check([row]);
    assert.deepEqual([checked!.payout!.id, checked!.payout!.state], [made.json['id'], 'queued']);
    assert.equal(checked!.idempotency_key, third);
    // A payout is found long after its key has expired.
    await testEnv.db.pool.query('DELETE FROM idempotency_keys WHERE merchant_id = $1', [testEnv.merchant.id]);
    assert.deepEqual(
      (await check([row])).map(({ payout: found, idempotency_key: key }) => [found!.id, key]),
      [[made.json['id'], first]],
    );
  });

  it('tells the maker what an approver would be told, and nothing of a row with errors', async () => {
    await fund(testEnv, testEnv.merchant, 5000);
    const payout = collectionFields({ phone: phoneFor('000'), amount: 700 });
    const idempotencyKey = randomUUID();
    const rows = [rowOf(payout), rowOf({ ...payout, amount: 0 }), rowOf({ ...payout, amount: 701 })];
    const codesOf = (checked: readonly Checked[]) =>
      checked.map(({ judgement }) => judgement?.warnings.map(({ code }) => code));
    const first = ['first_payout_to_number'];
    assert.deepEqual(codesOf(await check(rows)), [first, undefined, first]);
    const made = await maker.call('POST', '/v1/api/payouts', { json: payout, idempotencyKey });
    const again = await check(rows);
    assert.deepEqual(codesOf(again), [[...first, 'same_number_and_amount_within_24h'], undefined, first]);
    assert.equal(again[0]!.judgement!.warnings[1]!.payout_id, made.json['id']);
    const shown = await maker.call('GET', `/v1/console/payouts/${String(made.json['id'])}`);
    assert.deepEqual((shown.json['judgement'] as { warnings: object[] }).warnings, [{ code: first[0] }]);
    // The very payout that was made under the key is no other one.
    const own = await check([{ idempotency_keys: [idempotencyKey], payout }]);
    assert.deepEqual(codesOf(own), [first]);
  });

  it('warns of no payout of another merchant', async () => {
    const other = await testEnv.addMerchant();
    await fund(testEnv, other, 5000);
    const theirs = await logInAs(testEnv, other.id, 'maker');
    const payout = collectionFields({ phone: phoneFor('000'), amount: 900 });
    await theirs.call('POST', '/v1/api/payouts', { json: payout, idempotencyKey: randomUUID() });
    const [checked] = await check([rowOf(payout)]);
    assert.deepEqual(checked!.judgement!.warnings, [{ code: 'first_payout_to_number' }]);
  });

  it('finds nothing of another merchant', async () => {
    const other = await testEnv.addMerchant();
    await fund(testEnv, other, 5000);
    const theirs = await logInAs(testEnv, other.id, 'maker');
    const idempotencyKey = randomUUID();
    const payout = collectionFields({ phone: phoneFor('000') });
    assert.equal((await theirs.call('POST', '/v1/api/payouts', { json: payout, idempotencyKey })).status, 202);
    const [checked] = await check([{ idempotency_keys: [idempotencyKey], payout }]);
    assert.deepEqual([checked!.payout, checked!.idempotency_key], [null, idempotencyKey]);
  });

  it('refuses more than a hundred rows, and anybody who makes no payouts', async () => {
    const rows = Array.from({ length: 101 }, () => rowOf({}));
    assertError(await maker.call('POST', '/v1/console/payouts/check', { json: { rows } }), 'parameter_invalid');
    const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    const json = { rows: [rowOf({})] };
    assertError(await approver.call('POST', '/v1/console/payouts/check', { json }), 'permission_denied');
  });
});
