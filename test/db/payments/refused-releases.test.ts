// Releases that the database refuses because something changed after the operation had checked it: each refusal has its code.
import assert from 'node:assert/strict';
import type { PayoutId } from '../../../src/domain/ids.ts';
import { RULES_WITH_CODE } from '../../../src/db/payments/refused-rules.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';
import { tamper, whileLocked } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { codeOr, makeShop, queue, release, releaseMany, setPolicy } from './payout-rows.ts';
import { valuesOf } from '../../support/values-of.ts';

describe('a release that the database refuses', () => {
  const db = useDatabase();
  const shop = useFixturePerCase(() => makeShop(db, 100_000n));

  const limitTo = (approverDailyLimitMinor: bigint) => () =>
    setPolicy(db, shop.merchantId, { approverDailyLimitMinor });
  // A release that waits for it has decided to record its approval.
  const APPROVALS = { sql: 'LOCK TABLE approvals IN SHARE MODE', values: [] };
  const stateOf = async (id: PayoutId) => (await getPayout(db, shop.merchantId, id)).state;

  it('is denied when the daily limit of the approver is lowered during it', async () => {
    await limitTo(5000n)();
    const { id } = await queue(db, shop, 2000n);
    const answer = await whileLocked(db, APPROVALS, () => codeOr(release(db, shop.approver, id)), limitTo(1000n));
    assert.equal(answer, 'permission_denied');
    assert.equal(await stateOf(id), 'queued');
  });

  it('fails by itself among several that are released together', async () => {
    await limitTo(50_000n)();
    const small = await queue(db, shop, 1000n);
    const large = await queue(db, shop, 2000n);
    const ids = [large.id, small.id];
    const { response } = await whileLocked(db, APPROVALS, () => releaseMany(db, shop.approver, ids), limitTo(1000n));
    const { data } = JSON.parse(response.body) as { data: { id: string; error: { code: string } | null }[] };
    assert.deepEqual(
      data.map(({ id, error }) => [id, error?.code ?? null]),
      [
        [large.id, 'permission_denied'],
        [small.id, null],
      ],
    );
    assert.deepEqual([await stateOf(large.id), await stateOf(small.id)], ['queued', 'released']);
  });

  it('is denied when the account of the approver is recovered during it, and has to wait', async () => {
    await limitTo(50_000n)();
    const { id } = await queue(db, shop, 2000n);
    const recover = async () => {
      await tamper(db, 'UPDATE policies SET approver_wait_ms = 86400000 WHERE merchant_id = $1', [shop.merchantId]);
      await tamper(db, 'UPDATE users SET recovered_at = now() WHERE id = $1', [shop.approver.userId]);
    };
    const answer = await whileLocked(db, APPROVALS, () => codeOr(release(db, shop.approver, id)), recover);
    assert.equal(answer, 'permission_denied');
    assert.equal(await stateOf(id), 'queued');
  });

  it('has a code for each of its rules that names itself, and for no other', async () => {
    const { rows } = await db.pool.query<{ rule: string }>(
      `SELECT DISTINCT (regexp_matches(prosrc, 'CONSTRAINT = ''(\\w+)''', 'g'))[1] AS rule FROM pg_proc
       WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
    );
    assert.deepEqual(valuesOf(rows, 'rule'), [...RULES_WITH_CODE].sort());
  });
});
