// A server that is killed while it releases several payouts: the repeated request releases each of them once.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { useTestEnvironmentPerCase } from '../support/use-test-environment.ts';
import { assertLedgerIsSound } from '../support/payments.ts';
import { requestPayout, fetchPayout, fund, transfersAccepted, untilPayoutState } from '../support/payouts.ts';
import { addPerson, logIn } from '../support/people.ts';
import { startServerChild } from '../support/server-child.ts';

describe('a server that is killed while it releases several payouts', () => {
  // The deadline decides nothing here: a payout that no server could send in time would fail.
  const testEnv = useTestEnvironmentPerCase({
    startsServer: false,
    environment: { MALIPO_PAYOUT_SEND_DEADLINE_MS: '60000' },
  });
  beforeEach(async () => {
    await fund(testEnv, testEnv.merchant, 100_000);
  });

  for (const [moment, state, isReplayed] of [
    ['before', 'queued', null],
    ['after', 'released', 'true'],
  ] as const) {
    it(`leaves them ${state} when killed ${moment} the commit, and the repeated request releases all of them`, async () => {
      const doomed = await startServerChild(testEnv, { crashPoint: { moment, commitOf: 'approval_insert' } });
      const payouts = await Promise.all([1, 2, 3].map(() => requestPayout(testEnv, '000')));
      const browser = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['approver']));
      const options = { json: { ids: payouts.map(({ id }) => id) }, idempotencyKey: randomUUID() };
      const release = () => browser.call('POST', '/v1/console/payouts/release', options);
      await assert.rejects(release());
      await doomed.dies();
      const states = await testEnv.db.pool.query<{ state: string }>(
        "SELECT DISTINCT state FROM payments WHERE kind = 'payout'",
      );
      assert.deepEqual(states.rows, [{ state }]);

      await testEnv.startServer();
      const answer = await release();
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers.get('idempotent-replayed'), isReplayed);
      for (const { payout } of answer.json['data'] as { payout: { state: string } | null }[]) {
        assert.equal(payout?.state, 'released');
      }
      for (const payout of payouts) {
        await untilPayoutState(testEnv, payout, 'succeeded');
        assert.equal(await transfersAccepted(testEnv, payout), 1);
        assert.equal(((await fetchPayout(testEnv, payout))['approvals'] as unknown[]).length, 1);
      }
      await assertLedgerIsSound(testEnv.db);
    });
  }
});
