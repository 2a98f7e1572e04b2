// A request that names its operator: numbers are ported between networks, so a prefix is only a guess.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createCollectionSchema } from '../../../src/api/schemas/payments/collection.ts';
import { toPaymentRequest } from '../../../src/api/schemas/payments/payout.ts';
import { openBreaker, openBreakerByStaff } from '../../../src/db/work/breakers.ts';
import { requestFingerprint } from '../../../src/security/request-fingerprint.ts';
import { call, collectionFields } from '../../support/api.ts';
import { fund } from '../../support/payouts.ts';
import { addPerson, logIn, logInAs } from '../../support/people.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError } from '../responses.ts';

/** Of another network, by its prefix. */
const PORTED = '256712000100';

describe('a request that names its operator', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  before(() => fund(testEnv, testEnv.merchant, 1_000_000));

  for (const path of ['/v1/api/collections', '/v1/api/payouts'] as const) {
    const create = (fields: Record<string, unknown>, idempotencyKey: string = randomUUID()) =>
      call(testEnv.baseUrl, 'POST', path, {
        key: testEnv.merchant.key,
        idempotencyKey,
        json: collectionFields({ phone: PORTED, ...fields }),
      });

    it(`goes to it whatever the prefix of the phone at ${path}`, async () => {
      const guessed = assertError(await create({}), 'phone_unsupported');
      assert.match(guessed.message, /name that operator/);
      const { status, json, text } = await create({ operator: 'mtn-momo' });
      assert.equal(status, 202, text);
      assert.deepEqual([json['operator'], json['phone']], ['mtn-momo', PORTED]);
    });

    it(`is refused at ${path} for an operator that there is not, or that has no market in that country`, async () => {
      for (const operator of ['airtel', 'MTN MoMo', '', 7, ['mtn-momo'], 'toString', '__proto__']) {
        assert.equal(assertError(await create({ operator }), 'parameter_invalid').param, 'operator');
      }
      for (const phone of ['254712345678', '250788000100']) {
        const error = assertError(await create({ operator: 'mtn-momo', phone }), 'phone_unsupported');
        assert.equal(error.param, 'phone');
        assert.match(error.message, /^MTN MoMo serves no numbers of (Kenya|Rwanda) in UGX here\./);
      }
    });

    it(`is the same request at ${path} only with the same operator`, async () => {
      const phone = '256772000100';
      const [key, other] = [randomUUID(), randomUUID()];
      const first = await create({ phone }, key);
      assert.equal((await create({ phone }, key)).text, first.text);
      assertError(await create({ phone, operator: 'mtn-momo' }, key), 'idempotency_key_reused');
      const named = await create({ phone, operator: 'mtn-momo' }, other);
      assert.equal((await create({ operator: 'mtn-momo', phone }, other)).text, named.text);
      assertError(await create({ phone }, other), 'idempotency_key_reused');
    });
  }

  it('has the fingerprint that it always had where it names none', () => {
    const body = createCollectionSchema.parse({ phone: '256772000100', amount: 5000, reference: 'INV-1' });
    assert.equal(
      requestFingerprint('POST', '/v1/api/collections', toPaymentRequest(body)).toString('hex'),
      'd3d496785e71b3e5fcc959b34b2c6e7b99437fa198e495125f8327b8d0fd29cf',
    );
  });

  it('is checked before it is made as it would be made', async () => {
    const maker = await logInAs(testEnv, testEnv.merchant.id, 'maker');
    const payouts = [{ operator: 'mtn-momo' }, {}, { operator: 'airtel' }, { operator: 'mtn-momo', amount: 1 }];
    const rows = payouts.map((fields) => ({
      idempotency_keys: [randomUUID()],
      payout: collectionFields({ phone: PORTED, ...fields }),
    }));
    const { json, text } = await maker.call('POST', '/v1/console/payouts/check', { json: { rows } });
    const data = json['data'] as { operator: string | null; errors: { param: string }[] }[];
    assert.deepEqual(
      data.map(({ operator, errors }) => [operator, errors.map(({ param }) => param).sort()]),
      [
        ['mtn-momo', []],
        [null, ['phone']],
        [null, ['operator', 'phone']],
        [null, ['amount']],
      ],
      text,
    );
  });
});

describe('the operators', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  it('are listed for every person with where this deployment reaches them, and for no key', async () => {
    const viewer = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    const { json } = await viewer.call('GET', '/v1/console/operators');
    const [operator, ...others] = json['data'] as {
      readonly [field: string]: unknown;
      readonly markets: object[];
    }[];
    assert.deepEqual([operator?.['id'], operator?.['name'], operator?.['refunds']], ['mtn-momo', 'MTN MoMo', true]);
    assert.deepEqual(
      others.map(({ id, name, refunds, markets }) => [id, name, refunds, markets.length]),
      [['airtel-money', 'Airtel Money', true, 1]],
    );
    assert.equal(operator?.markets.length, 7);
    const amounts = { min_amount: 100, max_amount: 5_000_000, amount_step: 1 };
    assert.deepEqual(operator.markets[0], {
      ...{ country: 'UG', currency: 'UGX', collections: amounts, payouts: amounts },
      approvals_ussd: '*165#',
      prompt_help: 'No request there? Dial *165# and look for approvals that wait for you.',
    });
    assert.deepEqual(operator['services'], [
      { service: 'collections', availability: 'open', since: null },
      { service: 'money_out', availability: 'open', since: null },
    ]);
    const { key } = testEnv.merchant;
    assert.equal((await call(testEnv.baseUrl, 'GET', '/v1/console/operators', { key })).status, 401);
  });

  it('are delayed while one takes no calls, and closed while the staff let nobody call it, each since when', async () => {
    const viewer = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    const opening = { cause: 'busy', reason: 'http 503', pauseMs: 60_000 } as const;
    await openBreaker(testEnv.db, 'mtn-momo', 'collection', opening);
    await openBreakerByStaff(testEnv.db, 'mtn-momo', 'disbursement', 'maintenance');
    const { json, text } = await viewer.call('GET', '/v1/console/operators');
    const [operator] = json['data'] as { services: { service: string; availability: string; since: string }[] }[];
    assert.deepEqual(
      operator?.services.map(({ service, availability }) => [service, availability]),
      [
        ['collections', 'delayed'],
        ['money_out', 'closed'],
      ],
    );
    assert.ok(operator.services.every(({ since }) => Math.abs(Date.now() - Date.parse(since)) < 60_000));
    assert.doesNotMatch(text, /http 503|maintenance/, 'why is for the staff');
  });
});
