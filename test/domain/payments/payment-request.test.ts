// Whether a well-formed request can be carried out, and every problem that is reported when it cannot.
import assert from 'node:assert/strict';
import { planPayment, type PaymentRequest } from '../../../src/domain/payments/payment-request.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { readAmountChanges, type RequestedKind } from '../../../src/domain/payments/amount-rules.ts';
import { coverageOf, OPERATORS, withAmountChanges } from '../../../src/domain/payments/operator-catalogue.ts';
import { REQUEST } from './collections.ts';

const EVERYWHERE = coverageOf({ 'mtn-momo': null });

function issuesOf(request: Partial<PaymentRequest>): [string, string][] {
  try {
    planPayment({ ...REQUEST, ...request }, 'UGX', EVERYWHERE, 'collection');
  } catch (error) {
    assert.ok(error instanceof DomainError);
    assert.equal(error.code, error.issues[0]?.code);
    assert.equal(error.message, error.issues[0]?.message);
    return error.issues.map(({ param, code }) => [param, code]);
  }
  return [];
}

describe('a payment request', () => {
  it('goes to the operator that serves the phone', () => {
    for (const request of [REQUEST, { ...REQUEST, currency: 'UGX' }])
      assert.deepEqual(planPayment(request, 'UGX', EVERYWHERE, 'collection'), { operator: 'mtn-momo' });
  });

  const refused: [string, Partial<PaymentRequest>, [string, string][]][] = [
    ['a phone in the wrong form', { phone: '+256772000100' }, [['phone', 'phone_invalid']]],
    ['a phone of a network we do not reach', { phone: '256752000100' }, [['phone', 'phone_unsupported']]],
    ['a phone in a country with another currency', { phone: '250788000100' }, [['phone', 'phone_unsupported']]],
    ['a currency that is not the merchant’s', { currency: 'KES' }, [['currency', 'parameter_invalid']]],
    ['an amount below the operator’s bounds', { amountMinor: 99n }, [['amount', 'amount_out_of_bounds']]],
    ['an amount above the operator’s bounds', { amountMinor: 5_000_001n }, [['amount', 'amount_out_of_bounds']]],
    [
      'several problems, and names them all',
      { currency: 'KES', phone: '0772000100', amountMinor: 0n },
      [
        ['currency', 'parameter_invalid'],
        ['phone', 'phone_invalid'],
        ['amount', 'amount_out_of_bounds'],
      ],
    ],
  ];
  for (const [what, request, issues] of refused) {
    it(`is refused for ${what}`, () => {
      assert.deepEqual(issuesOf(request), issues);
    });
  }

  it('goes to the operator that it names, whatever the prefix of the phone', () => {
    const ported = { ...REQUEST, phone: '256752000100', operator: 'mtn-momo' } as const;
    assert.deepEqual(planPayment(ported, 'UGX', EVERYWHERE, 'payout'), { operator: 'mtn-momo' });
    assert.deepEqual(issuesOf({ phone: '256752000100', operator: 'mtn-momo', amountMinor: 99n }), [
      ['amount', 'amount_out_of_bounds'],
    ]);
  });

  it('is refused for an operator without a market in the country of the phone, in its currency, or within reach', () => {
    const refused = (phone: string, says: RegExp, reach = EVERYWHERE) => {
      const request = { ...REQUEST, phone, operator: 'mtn-momo' } as const;
      assert.throws(() => planPayment(request, 'UGX', reach, 'collection'), says);
    };
    refused('254712345678', /MTN MoMo serves no numbers of Kenya/);
    refused('250788000100', /MTN MoMo serves no numbers of Rwanda/);
    refused('256752000100', /No available operator supports UGX/, coverageOf({ 'mtn-momo': 'RW' }));
  });

  it('is accepted for exactly the least and the most that the operator takes', () => {
    const market = OPERATORS['mtn-momo'].markets.find(({ country }) => country === 'UG');
    const { minAmountMinor, maxAmountMinor } = market!.amounts.collection;
    for (const amountMinor of [minAmountMinor, maxAmountMinor]) assert.deepEqual(issuesOf({ amountMinor }), []);
  });

  it('is held to the rules of its own kind, by the operator that is named or found', () => {
    const changes = readAmountChanges('mtn-momo/UG/UGX/collection=100-1000/100,mtn-momo/UG/UGX/payout=150-900/50')!;
    const codeOf = (amountMinor: bigint, kind: RequestedKind, more: Partial<PaymentRequest> = {}) => {
      try {
        planPayment({ ...REQUEST, amountMinor, ...more }, 'UGX', withAmountChanges(EVERYWHERE, changes), kind);
        return null;
      } catch (error) {
        assert.ok(error instanceof DomainError);
        return error.issues.map(({ code }) => code).join();
      }
    };
    assert.deepEqual([codeOf(150n, 'collection'), codeOf(150n, 'payout')], ['parameter_invalid', null]);
    assert.deepEqual([codeOf(1000n, 'collection'), codeOf(1000n, 'payout')], [null, 'amount_out_of_bounds']);
    const ported = { phone: '256752000100', operator: 'mtn-momo' } as const;
    assert.deepEqual([codeOf(150n, 'collection', ported), codeOf(150n, 'payout', ported)], ['parameter_invalid', null]);
    assert.equal(codeOf(150n, 'collection', { phone: '0772000100' }), 'phone_invalid,parameter_invalid');
  });

  it('is refused with the required form of a phone and the bounds of the amount', () => {
    assert.throws(
      () => planPayment({ ...REQUEST, phone: '0772000100' }, 'UGX', EVERYWHERE, 'payout'),
      /digits only.*256772123456/,
    );
    assert.throws(
      () => planPayment({ ...REQUEST, amountMinor: 1n }, 'UGX', EVERYWHERE, 'payout'),
      /from 100 to 5000000 .*UGX/,
    );
  });
});
