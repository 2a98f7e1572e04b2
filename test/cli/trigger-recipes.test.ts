// Tests the recipes of `malipo trigger`: every type of event, with phone numbers that one of our operators serves.
import assert from 'node:assert/strict';
import { phoneFor, RECIPES, withRow } from '../../src/cli/trigger-recipes.ts';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { CURRENCIES } from '../../src/domain/money.ts';
import { coverageOf, OPERATORS, routePhone } from '../../src/domain/payments/operator-catalogue.ts';
import { parsePhone } from '../../src/domain/payments/phone.ts';

describe('the recipes of malipo trigger', () => {
  it('cover every type of event', () => {
    assert.deepEqual(Object.keys(RECIPES).sort(), [...EVENT_TYPES].sort());
  });

  it('take another row of the table for payments, and no other text or event', () => {
    assert.deepEqual(withRow(RECIPES['payout.succeeded'], '022'), { ...RECIPES['payout.succeeded'], row: '022' });
    assert.equal(withRow(RECIPES['endpoint.test'], null), RECIPES['endpoint.test']);
    assert.throws(() => withRow(RECIPES['collection.failed'], '22'), /last three digits/);
    assert.throws(() => withRow(RECIPES['endpoint.test'], '022'), /not for endpoint\.test/);
  });

  it('give a phone number with the requested ending in each currency that an operator serves, and refuse the others', () => {
    const served = new Set(Object.values(OPERATORS).flatMap(({ markets }) => markets.map(({ currency }) => currency)));
    for (const currency of CURRENCIES) {
      if (!served.has(currency)) {
        assert.throws(() => phoneFor(currency, '100', () => true), nobodyServes(currency));
        continue;
      }
      for (let n = 0; n < 50; n++) {
        const text = phoneFor(currency, '009', () => true);
        const phone = parsePhone(text);
        assert.ok(phone && text.endsWith('009'), text);
        const coverage = coverageOf({ 'mtn-momo': null, 'airtel-money': phone.country, daraja: 'KE' });
        assert.equal(routePhone(phone, currency, coverage).kind, 'operator', text);
      }
    }
  });

  it('give the number of an operator that the deployment reaches, and none without one', () => {
    for (const [reached, others] of [
      ['airtel-money', {}],
      ['daraja', { daraja: 'KE' }],
    ] as const) {
      const phone = parsePhone(phoneFor('KES', '100', (operator) => operator === reached))!;
      const coverage = coverageOf({ 'mtn-momo': null, 'airtel-money': 'KE', ...others });
      const route = routePhone(phone, 'KES', coverage);
      assert.ok(route.kind === 'operator' && route.operator === reached);
    }
    assert.throws(() => phoneFor('KES', '100', (operator) => operator === 'mtn-momo'), nobodyServes('KES'));
  });
});

function nobodyServes(currency: string): RegExp {
  return new RegExp(`no operator of the sandbox supports ${currency}`);
}
