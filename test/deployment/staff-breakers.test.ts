// `npm run staff` and the breakers of operators.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY } from '../api/responses.ts';
import { addFirstStaff, AMINA, logInLines } from '../support/staff.ts';
import { runStaff } from './staff-child.ts';

describe('npm run staff, for an operator', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  before(() => addFirstStaff(testEnv.db, testEnv.config.settings.MALIPO_SECRET_KEYS));

  const run = (args: readonly string[]) => runStaff(args, testEnv.environment);
  const act = async (args: readonly string[]) =>
    runStaff([...args, '--as', AMINA.name], testEnv.environment, await logInLines(testEnv.db, AMINA));

  it('opens and closes the breaker of an operator, and shows those that are open', async () => {
    assert.equal((await run(['breakers'])).out, 'every operator is called\n');
    const of = ['--operator', 'mtn-momo', '--product', 'disbursement'];
    const opened = await act(['breaker', 'open', ...of, '--reason', 'maintenance at the operator']);
    assert.equal(opened.code, 0, opened.err);
    assert.match(
      (await run(['breakers'])).out,
      /^mtn-momo disbursement {2}open since [^ ]+Z, until it is closed by hand \(staff: maintenance at the operator\)$/m,
    );
    const closed = await act(['breaker', 'close', ...of]);
    assert.deepEqual([closed.code, closed.out], [0, 'closed      mtn-momo disbursement: it is called again\n']);
    assert.equal((await run(['breakers'])).out, 'every operator is called\n');
    const again = await act(['breaker', 'close', ...of]);
    assert.deepEqual(
      [again.code, again.err],
      [1, 'nothing was done: the breaker of mtn-momo disbursement is closed\n'],
    );
    const wrong = await act(['breaker', 'open', '--operator', 'nobody', '--product', 'x', '--reason', 'y']);
    assert.equal(wrong.code, 2);
    assert.match(
      wrong.err,
      /--operator must be one of mtn-momo, airtel-money, daraja\n--product must be one of collection, disbursement/,
    );
    const { rows } = await testEnv.db.pool.query<{ action: string; staff: string; after: object }>(
      "SELECT action, staff, after FROM audit_entries WHERE action LIKE 'breaker.%' ORDER BY id",
    );
    assert.deepEqual(rows, [
      { action: 'breaker.opened', staff: 'amina', after: { reason: 'maintenance at the operator' } },
      { action: 'breaker.closed', staff: 'amina', after: {} },
    ]);
  });
});
