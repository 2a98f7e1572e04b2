// `npm run staff` and the currencies that operators take in the deployment.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY } from '../api/responses.ts';
import { closeAccount } from '../support/operator-accounts.ts';
import { AMINA, logInLines } from '../support/staff.ts';
import { runStaff } from './staff-child.ts';

describe('npm run staff, for a merchant’s currency', () => {
  const testEnv = useTestEnvironment({ ...API_ONLY, mtnMomoCountry: 'RW' });

  const merchantCount = async () => (await testEnv.db.pool.query('SELECT 1 FROM merchants')).rowCount;
  const create = async (currency: string) =>
    runStaff(
      [...'create --as amina --name Duka --email amina@duka.example --currency'.split(' '), currency],
      testEnv.environment,
      await logInLines(testEnv.db, AMINA),
    );
  const lineOf = async (id: string) => {
    const { out } = await runStaff(['merchants'], testEnv.environment);
    return out.split('\n').find((line) => line.startsWith(id)) ?? '';
  };

  it('creates no merchant in a currency that no operator takes here, and shows it of one that is there', async () => {
    const { id } = await testEnv.addMerchant('RWF');
    const before = await merchantCount();
    for (const currency of ['KES', 'NGN']) {
      const refused = await create(currency);
      assert.deepEqual([refused.code, refused.out], [1, ''], currency);
      const says = `nothing was done: no operator here supports ${currency}; --currency must be one of UGX, RWF\n`;
      assert.equal(refused.err, says);
    }
    assert.doesNotMatch(await lineOf(id), /no operator/);
    await closeAccount(testEnv.db, 'mtn-momo');
    assert.match(await lineOf(id), /; no operator here supports RWF$/);
    assert.match((await create('RWF')).err, /--currency must be one of UGX\n$/);
    await closeAccount(testEnv.db, 'airtel-money');
    assert.match((await create('UGX')).err, /no account with an operator is active/);
    assert.equal(await merchantCount(), before);
  });
});
