// Amounts off an operator's step: refused in every place where an amount is requested, with the nearest ones named, and never rounded.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Currency } from '../../../src/domain/money.ts';
import { call, collectionFields, type ApiResponse } from '../../support/api.ts';
import { fund } from '../../support/payouts.ts';
import { addPerson, logIn, logInAs } from '../../support/people.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { makeCheckout } from '../../db/payments/checkouts.ts';
import { countRows, makeCollection } from '../../db/rows.ts';
import { openPayer } from '../pay/payer.ts';
import { API_ONLY, assertError, issuesOf, startAnotherServer } from '../responses.ts';

/** Whole cedis to collect and half ones to pay out; two countries of one currency with rules of their own. */
const AMOUNTS = [
  'mtn-momo/GH/GHS/collection=100-1500000/100',
  'mtn-momo/GH/GHS/payout=100-1000000/50',
  'mtn-momo/CI/XOF/collection=500-2000000/500',
  'mtn-momo/BJ/XOF/collection=100-9000/100',
].join();
const GHANAIAN = '233241234567';
const IVORIAN = '2250504123456';
const BENINESE = '2290197123456';

describe('an amount', () => {
  const testEnv = useTestEnvironment({
    environment: { ...API_ONLY.environment, MALIPO_OPERATOR_AMOUNTS: AMOUNTS },
  });

  async function merchantIn(currency: Currency) {
    const merchant = await testEnv.addMerchant(currency);
    const person = await addPerson(testEnv, merchant.id, ['maker']);
    const maker = await logIn(testEnv, person);
    const create = (path: string, fields: Record<string, unknown>): Promise<ApiResponse> =>
      call(testEnv.baseUrl, 'POST', path, { key: merchant.key, json: collectionFields(fields) });
    const checkout = (amount: number): Promise<ApiResponse> =>
      maker.call('POST', '/v1/console/checkouts', {
        json: { amount, reference: 'INV-1' },
        idempotencyKey: randomUUID(),
      });
    return { merchant, person, maker, create, checkout };
  }

  const cases = [
    ['/v1/api/collections', 1050, 'a multiple of 100 .*takes whole GHS only.* 1000 and 1100'],
    ['/v1/api/payouts', 1030, 'a multiple of 50 .*takes multiples of 0.50 GHS only.* 1000 and 1050'],
  ] as const;
  for (const [path, amount, says] of cases) {
    it(`off the step is refused at ${path}, as JSON and as a form, and nothing is recorded`, async () => {
      const { merchant, create } = await merchantIn('GHS');
      const form = { phone: GHANAIAN, amount: String(amount), reference: 'INV-1' };
      for (const response of [
        await create(path, { phone: GHANAIAN, amount }),
        await create(path, { phone: GHANAIAN, amount, operator: 'mtn-momo' }),
        await call(testEnv.baseUrl, 'POST', path, { key: merchant.key, form }),
      ]) {
        const error = assertError(response, 'parameter_invalid');
        assert.equal(error.param, 'amount');
        assert.match(error.message, new RegExp(says));
      }
      assert.equal(await countRows(testEnv.db, 'payments WHERE merchant_id = $1', [merchant.id]), 0);
    });
  }

  it('on the step is accepted as it is', async () => {
    const { create } = await merchantIn('GHS');
    const { status, json, text } = await create('/v1/api/collections', { phone: GHANAIAN, amount: 1100 });
    assert.deepEqual([status, json['amount']], [202, 1100], text);
    // By the step of payouts, which is another one; there is no money for it.
    assertError(await create('/v1/api/payouts', { phone: GHANAIAN, amount: 1050 }), 'balance_insufficient');
  });

  it('off the step, or out of bounds, is named row by row in the check of payouts', async () => {
    const { maker } = await merchantIn('GHS');
    const rows = [1050, 1030, 1_000_050, 1030].map((amount, index) => ({
      idempotency_keys: [randomUUID()],
      payout: collectionFields({ phone: index === 3 ? '0241234567' : GHANAIAN, amount }),
    }));
    const { json } = await maker.call('POST', '/v1/console/payouts/check', { json: { rows } });
    const data = json['data'] as { errors: { param: string; code: string }[] }[];
    assert.deepEqual(
      data.map(({ errors }) => errors.map(({ param, code }) => `${param} ${code}`)),
      [
        [],
        ['amount parameter_invalid'],
        ['amount amount_out_of_bounds'],
        ['phone phone_invalid', 'amount parameter_invalid'],
      ],
    );
  });

  it('of a checkout must be one that some operator of its currency takes', async () => {
    const { checkout } = await merchantIn('XOF');
    for (const amount of [500, 700, 9000, 9500]) assert.equal((await checkout(amount)).status, 201, String(amount));
    const refused = await checkout(750);
    assert.deepEqual(issuesOf(refused), ['amount parameter_invalid']);
    assert.match(refused.text, /a multiple of 100 .* 700 and 800/);
    assert.match((await checkout(9600)).text, /a multiple of 500 .* 9500 and 10000/);
    assert.deepEqual(issuesOf(await checkout(2_000_500)), ['amount amount_out_of_bounds']);
  });

  it('of a checkout is paid only from a number whose operator takes it, and the form says so', async () => {
    const { merchant, person } = await merchantIn('XOF');
    const { code } = await makeCheckout(testEnv.db, merchant.id, person.id, { currency: 'XOF', amountMinor: 700n });
    const payer = openPayer(testEnv);
    const refused = await payer.pay(`/pay/${code}`, `+${IVORIAN}`);
    assert.equal(refused.status, 400);
    assert.match(refused.html, /This amount cannot be paid from this number/);
    assert.equal(await countRows(testEnv.db, 'payments WHERE merchant_id = $1', [merchant.id]), 0);
    await payer.attempt(`/pay/${code}`, `+${BENINESE}`);
    assert.equal(await countRows(testEnv.db, 'payments WHERE merchant_id = $1', [merchant.id]), 1);
  });

  it('of a checkout that no operator takes any more closes the form', async () => {
    const { merchant, person } = await merchantIn('XOF');
    const { code } = await makeCheckout(testEnv.db, merchant.id, person.id, { currency: 'XOF', amountMinor: 750n });
    const { html } = await openPayer(testEnv).open(`/pay/${code}`);
    assert.match(html, /No mobile-money operator takes this amount in this currency here/);
    assert.doesNotMatch(html, /name="phone"|Works with/);
  });

  it('that was collected off the step of today is not given back as another one', async () => {
    const { merchant } = await merchantIn('GHS');
    const money = { currency: 'GHS', phone: GHANAIAN } as const;
    const off = await makeCollection(testEnv.db, merchant.id, 'succeeded', { ...money, amountMinor: 1050n });
    const on = await makeCollection(testEnv.db, merchant.id, 'succeeded', { ...money, amountMinor: 1100n });
    const maker = await logInAs(testEnv, merchant.id, 'maker');
    const reverse = (id: string) =>
      maker.call('POST', `/v1/console/collections/${id}/reversal`, { idempotencyKey: randomUUID() });
    const { message } = assertError(await reverse(off.id), 'state_conflict');
    assert.match(message, /1050, is no multiple of 100 .* takes whole GHS only/);
    assert.equal((await reverse(on.id)).status, 202);
  });

  it('that was accepted before the rules changed gets the same response again, and no second payment', async () => {
    const { merchant } = await merchantIn('GHS');
    const before = await startAnotherServer(testEnv, { MALIPO_OPERATOR_AMOUNTS: '' });
    const idempotencyKey = randomUUID();
    const create = (baseUrl: string, amount: number, key: string) =>
      call(baseUrl, 'POST', '/v1/api/collections', {
        ...{ key: merchant.key, idempotencyKey: key },
        json: collectionFields({ phone: GHANAIAN, amount }),
      });
    const first = await create(before.baseUrl, 1050, idempotencyKey);
    assert.equal(first.status, 202, first.text);
    // Twice: by the second one the process knows the API key.
    for (const amount of [1100, 1200]) assert.equal((await create(testEnv.baseUrl, amount, randomUUID())).status, 202);
    const repeated = await create(testEnv.baseUrl, 1050, idempotencyKey);
    assert.deepEqual([repeated.status, repeated.text], [202, first.text]);
    assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
    assertError(await create(testEnv.baseUrl, 1050, randomUUID()), 'parameter_invalid');
    assert.equal(await countRows(testEnv.db, 'payments WHERE merchant_id = $1', [merchant.id]), 3);
  });

  it('is shown with the step and bounds of each market to anyone who types one', async () => {
    const viewer = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const { json } = await viewer.call('GET', '/v1/console/operators');
    const [operator] = json['data'] as { markets: Record<string, unknown>[] }[];
    assert.deepEqual(
      operator?.markets.find(({ country }) => country === 'GH'),
      {
        country: 'GH',
        currency: 'GHS',
        collections: { min_amount: 100, max_amount: 1_500_000, amount_step: 100 },
        payouts: { min_amount: 100, max_amount: 1_000_000, amount_step: 50 },
        approvals_ussd: '*170#',
        prompt_help: 'No request there? Dial *170# and look for approvals that wait for you.',
      },
    );
    const benin = operator.markets.find(({ country }) => country === 'BJ');
    assert.equal(benin?.['approvals_ussd'], null);
    assert.match(String(benin['prompt_help']), /Open the menu or the app of MTN MoMo/);
  });

  it('of a merchant with money is held as it is', async () => {
    await fund(testEnv, testEnv.merchant, 5000);
    const { status, json } = await call(testEnv.baseUrl, 'POST', '/v1/api/payouts', {
      key: testEnv.merchant.key,
      json: collectionFields({ amount: 1234 }),
    });
    assert.deepEqual([status, json['amount']], [202, 1234]);
  });
});
