// Bounds and steps of amounts: what is allowed, what is said of the rest, and how a deployment changes them.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MAX_AMOUNT_MINOR } from '../../../src/domain/money.ts';
import {
  amountIssue,
  areSound,
  describeStep,
  isAllowed,
  readAmountChanges,
  REQUESTED_KINDS,
  type AmountRules,
} from '../../../src/domain/payments/amount-rules.ts';
import { coverageOf, OPERATORS, withAmountChanges } from '../../../src/domain/payments/operator-catalogue.ts';

const rulesOf = (minAmountMinor: bigint, maxAmountMinor: bigint, stepMinor: bigint): AmountRules => ({
  minAmountMinor,
  maxAmountMinor,
  stepMinor,
});
const WHOLE = { name: 'M-Pesa', rules: rulesOf(100n, 25_000_000n, 100n) };
const FINE = { name: 'Airtel Money', rules: rulesOf(1000n, 10_000_040n, 1n) };

describe('the amounts that an operator takes', () => {
  it('are the multiples of its step within its bounds, for any rules and any amount', () => {
    const small = fc.bigInt({ min: 1n, max: 50n });
    fc.assert(
      fc.property(small, small, small, fc.bigInt({ min: 0n, max: 3000n }), (step, first, more, amountMinor) => {
        const rules = rulesOf(first * step, (first + more) * step, step);
        assert.ok(areSound(rules));
        const fits =
          amountMinor >= rules.minAmountMinor && amountMinor <= rules.maxAmountMinor && amountMinor % step === 0n;
        assert.equal(isAllowed(amountMinor, rules), fits);
        const issue = amountIssue(amountMinor, 'KES', [{ name: 'M-Pesa', rules }]);
        assert.equal(issue === null, fits);
        // What the message names is taken.
        for (const [, named = '0'] of issue?.message.matchAll(/(\d+)(?= and|\.$)/g) ?? [])
          if (issue?.code === 'parameter_invalid') assert.ok(isAllowed(BigInt(named), rules), issue.message);
      }),
    );
  });

  it('are in the catalogue with bounds that are amounts themselves, in every market and for every kind', () => {
    for (const { name, markets } of Object.values(OPERATORS))
      for (const { country, amounts } of markets)
        for (const kind of REQUESTED_KINDS) assert.ok(areSound(amounts[kind]), `${name} ${country} ${kind}`);
  });

  it('are named with the step and the nearest of them, when an amount is no multiple of the step', () => {
    assert.deepEqual(amountIssue(1050n, 'KES', [WHOLE]), {
      param: 'amount',
      code: 'parameter_invalid',
      message:
        'amount must be a multiple of 100 in the smallest unit of KES, because M-Pesa takes whole KES only. ' +
        'The nearest amounts are 1000 and 1100.',
    });
    assert.equal(describeStep(50n, 'KES'), 'multiples of 0.50 KES');
    assert.equal(describeStep(1n, 'UGX'), 'whole UGX');
    assert.equal(describeStep(5n, 'XOF'), 'multiples of 5 XOF');
  });

  it('are named with bounds and step, when an amount is out of bounds', () => {
    const issue = amountIssue(50n, 'KES', [WHOLE]);
    assert.equal(issue?.code, 'amount_out_of_bounds');
    assert.equal(
      issue.message,
      'amount must be from 100 to 25000000 in the smallest unit of KES, and a multiple of 100: these are the bounds of M-Pesa.',
    );
    assert.match(amountIssue(0n, 'KES', [FINE])?.message ?? '', /from 1000 to 10000040 in the smallest unit of KES: /);
  });

  it('are those of any of several operators, and else the rule that the amount misses by the least is named', () => {
    const either = [WHOLE, FINE];
    assert.equal(amountIssue(1050n, 'KES', either), null);
    assert.equal(amountIssue(200n, 'KES', either), null);
    assert.match(amountIssue(230n, 'KES', either)?.message ?? '', /M-Pesa takes whole KES only.* 200 and 300\.$/);
    assert.match(amountIssue(10_000_050n, 'KES', either)?.message ?? '', /from 1000 to 10000040 .*Airtel Money/);
    assert.match(amountIssue(25_000_001n, 'KES', either)?.message ?? '', /from 100 to 25000000 .*M-Pesa/);
    assert.equal(amountIssue(1n, 'KES', []), null);
  });
});

describe('the amounts of a deployment', () => {
  it('are changed in one market, for one kind of payment', () => {
    const changes = readAmountChanges('mtn-momo/GH/GHS/collection=200-1000000/100, mtn-momo/ZM/ZMW/payout = 1 - 500')!;
    assert.deepEqual(changes, [
      { operator: 'mtn-momo', country: 'GH', currency: 'GHS', kind: 'collection', ...rulesOf(200n, 1_000_000n, 100n) },
      { operator: 'mtn-momo', country: 'ZM', currency: 'ZMW', kind: 'payout', ...rulesOf(1n, 500n, 1n) },
    ]);
    const [before, after] = [
      coverageOf({ 'mtn-momo': null }),
      withAmountChanges(coverageOf({ 'mtn-momo': null }), changes),
    ];
    const of = (coverage: typeof before, country: string) =>
      coverage['mtn-momo'].find((market) => market.country === country)!;
    assert.deepEqual(of(after, 'GH').amounts, {
      ...of(before, 'GH').amounts,
      collection: rulesOf(200n, 1_000_000n, 100n),
    });
    assert.deepEqual(of(after, 'ZM').amounts, { ...of(before, 'ZM').amounts, payout: rulesOf(1n, 500n, 1n) });
    assert.deepEqual(of(after, 'UG'), of(before, 'UG'));
    assert.deepEqual(withAmountChanges(before), before);
  });

  it('are refused where no amount could keep them, or they say two things of one market', () => {
    for (const text of [
      '',
      'mtn-momo/GH=100-200',
      'mtn-momo/GH/payout=100-200',
      'mtn-momo/GH/GHS/refund=100-200',
      'mtn-momo/GH/GHS/payout=100',
      'mtn-momo/GH/GHS/payout=0-200',
      'mtn-momo/GH/GHS/payout=200-100',
      'mtn-momo/GH/GHS/payout=100-250/100',
      'mtn-momo/GH/GHS/payout=50-200/100',
      'mtn-momo/GH/GHS/payout=100-200/0',
      'mtn-momo/GH/GHS/payout=100-200/-1',
      'mtn-momo/GH/GHS/payout=1.5-200',
      `mtn-momo/GH/GHS/payout=1-${MAX_AMOUNT_MINOR + 1n}`,
      'mtn-momo/GH/GHS/payout=1-2,mtn-momo/GH/GHS/payout=1-3',
    ])
      assert.equal(readAmountChanges(text), null, text);
    assert.notEqual(readAmountChanges(`mtn-momo/GH/GHS/payout=1-${MAX_AMOUNT_MINOR}`), null);
  });
});
