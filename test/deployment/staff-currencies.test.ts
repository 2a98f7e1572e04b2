// `npm run staff` and the currencies that operators take in the deployment.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY } from '../api/responses.ts';
import { addFirstStaff, AMINA, logInLines } from '../support/staff.ts';
import { runStaff } from './staff-child.ts';

describe('npm run staff, for a merchant’s currency', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const run = (args: readonly string[], environment = testEnv.environment) => runStaff(args, environment);
  const merchantCount = async () => (await testEnv.db.pool.query('SELECT 1 FROM merchants')).rowCount;

  it('creates no merchant in a currency that no operator takes here, and names those that one takes', async () => {
    const before = await merchantCount();
    await addFirstStaff(testEnv.db, testEnv.config.settings.MALIPO_SECRET_KEYS);
    const create = async (currency: string, target: string) =>
      runStaff(
        [...'create --as amina --name Duka --email amina@duka.example --currency'.split(' '), currency],
        { ...testEnv.environment, MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: target, MALIPO_AIRTEL_MONEY_COUNTRY: '' },
        await logInLines(testEnv.db, AMINA),
      );
    const cases = [
      ['KES', 'sandbox', 'UGX, RWF, XOF, XAF, GHS, ZMW'],
      ['NGN', 'sandbox', 'UGX, RWF, XOF, XAF, GHS, ZMW'],
      ['RWF', 'mtnuganda', 'UGX'],
      ['UGX', 'mtnbenin', 'XOF'],
    ] as const;
    for (const [currency, target, served] of cases) {
      const refused = await create(currency, target);
      assert.deepEqual([refused.code, refused.out], [1, ''], currency);
      const says = `nothing was done: no operator here supports ${currency}; --currency must be one of ${served}\n`;
      assert.equal(refused.err, says);
    }
    assert.equal(await merchantCount(), before);
  });

  it('shows of a merchant that no operator takes its currency any more', async () => {
    const { id } = await testEnv.addMerchant('RWF');
    const lineOf = async (target: string) => {
      const environment = { ...testEnv.environment, MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: target };
      const { out } = await run(['merchants'], environment);
      return out.split('\n').find((line) => line.startsWith(id)) ?? '';
    };
    assert.match(await lineOf('mtnuganda'), /; no operator here supports RWF$/);
    assert.doesNotMatch(await lineOf('mtnrwanda'), /no operator/);
  });
});
