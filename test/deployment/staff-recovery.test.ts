// `npm run staff` and the recovery of the service after a restore of its database.
import assert from 'node:assert/strict';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { makeCollection } from '../db/rows.ts';
import { API_ONLY } from '../api/responses.ts';
import { addFirstStaff, AMINA, BRIAN, logInLines, type TestStaff } from '../support/staff.ts';
import { runStaff } from './staff-child.ts';

describe('npm run staff, in recovery', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  before(() => addFirstStaff(testEnv.db, testEnv.config.settings.MALIPO_SECRET_KEYS));

  const run = (args: readonly string[]) => runStaff(args, testEnv.environment);
  const act = async (args: readonly string[], by: TestStaff) =>
    runStaff([...args, '--as', by.name], testEnv.environment, await logInLines(testEnv.db, by));

  it('says that the service is not in recovery, and opens nothing', async () => {
    assert.match(
      (await run(['recovery'])).out,
      /^the service is not in recovery; the fence .* was written \d\.\d s ago$/m,
    );
    const opened = await act(['recovery', 'open', '--reason', 'for nothing'], AMINA);
    assert.deepEqual([opened.code, opened.err], [1, 'nothing was done: the service is not in recovery\n']);
  });

  it('shows what is missing and in doubt, and takes two to open it', async () => {
    await makeCollection(testEnv.db, testEnv.merchant.id, 'prompted');
    await testEnv.db.pool.query(
      `INSERT INTO restores (reason, found_at, counter, written_at, marker, marker_counter, marker_written_at, sessions_ended)
       VALUES ('behind', now(), 5, now() - interval '2 min', 'temporal', 65, now() - interval '1 min', 3)`,
    );
    const { out } = await run(['recovery']);
    assert.match(out, /^restore +\d+, found .*: the database is older than a marker of its fence$/m);
    assert.match(out, /^missing +from .*Z to .*Z or some seconds later, by the marker in Temporal$/m);
    assert.match(out, /^ +1 {2}collection at mtn-momo, prompted, the oldest of /m);
    assert.match(out, /^have, or answer no question about:\n\n {2}none$/m);
    const proposed = await act(['recovery', 'open', '--reason', 'compared with the statement of MTN'], AMINA);
    assert.equal(proposed.code, 0, proposed.err);
    const proposal = /spr_\w{26}/.exec(proposed.out)?.[0] ?? '';
    const alone = await act(['confirm', '--proposal', proposal], AMINA);
    assert.match(alone.err, /The proposer cannot confirm it/);
    const confirmed = await act(['confirm', '--proposal', proposal], BRIAN);
    assert.equal(confirmed.code, 0, confirmed.err);
    assert.match(
      confirmed.out,
      /the service sends and decides again after restore \d+: compared with the statement of MTN/,
    );
    assert.match((await run(['recovery'])).out, /^the service is not in recovery/);
    const again = await act(['confirm', '--proposal', proposal], BRIAN);
    assert.equal(again.code, 1);
  });
});
