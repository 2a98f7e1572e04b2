// The name of a payee from the request to the approver: what the maker typed, what the operator has, and a warning where they differ.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/test-environment.ts';
import { call, collectionFields } from '../../support/api.ts';
import { fund } from '../../support/payouts.ts';
import { logInAs } from '../../support/people.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { assertError } from '../responses.ts';

type Judgement = {
  readonly payee: { readonly name: string; readonly asked_at: string } | null;
  readonly warnings: object[];
};

describe('the name of a payee', () => {
  const testEnv = useTestEnvironment();
  before(() => fund(testEnv, testEnv.merchant, 1_000_000));

  const create = (fields: object) =>
    call(testEnv.baseUrl, 'POST', '/v1/api/payouts', {
      key: testEnv.merchant.key,
      idempotencyKey: randomUUID(),
      json: { ...collectionFields(), ...fields },
    });

  it('is asked of the operator at creation, and an approver is warned where the maker typed another one', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    const judgementOf = async (fields: object) => {
      const { json, text, status } = await create(fields);
      assert.equal(status, 202, text);
      return eventually('the operator’s answer about the name', async () => {
        const shown = await browser.call('GET', `/v1/console/payouts/${String(json['id'])}`);
        const judgement = shown.json['judgement'] as Judgement;
        return judgement.payee === null ? undefined : { judgement, typed: shown.json['payee_name'] };
      });
    };
    const { judgement, typed } = await judgementOf({ phone: '256772000500', payee_name: 'Peter Okello' });
    assert.equal(typed, 'Peter Okello');
    assert.equal(judgement.payee?.name, 'JANE NAKATO');
    assert.ok(Math.abs(Date.parse(judgement.payee.asked_at) - Date.now()) < 600_000);
    const differs = { code: 'payee_name_differs', typed: 'Peter Okello', name: 'JANE NAKATO' };
    assert.deepEqual(judgement.warnings, [{ code: 'first_payout_to_number' }, differs]);
    const same = await judgementOf({ phone: '256772000600', payee_name: 'Jane Nakato' });
    assert.deepEqual(same.judgement.warnings, [{ code: 'first_payout_to_number' }]);
    const unnamed = await judgementOf({ phone: '256772000001' });
    assert.deepEqual([unnamed.judgement.payee?.name, unnamed.typed], [null, null]);
  });

  it('is 1 to 100 printable characters', async () => {
    for (const name of ['', ' ', 'x'.repeat(101), 'Jane\nNakato', 7]) {
      assert.equal(assertError(await create({ payee_name: name }), 'parameter_invalid').param, 'payee_name');
    }
  });
});
