// Releases that people wrote into the database: what no process of ours attested is not sent, and its money stays held.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { AMINA } from '../support/staff.ts';
import { findOpenDiscrepancies } from '../../src/db/payments/discrepancy.ts';
import type { UserId } from '../../src/domain/ids.ts';
import { settleDiscrepancy } from '../../src/operations/payments/settle-discrepancy.ts';
import { tamper } from '../db/rows.ts';
import { phoneFor } from '../support/payments.ts';
import {
  balanceOf,
  fetchPayout,
  fund,
  release,
  requestPayout,
  transfersAccepted,
  untilPayoutState,
  type Payout,
} from '../support/payouts.ts';
import { addPerson, logIn } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const AMOUNT = 1000;
/** For a machine that does much else. */
const PATIENCE_MS = 50_000;
/** As a release by the service leaves the row. */
const RELEASED = `state = 'released', previous_state = 'queued', version = 1, updated_at = now(),
  send_deadline_at = now() + interval '5 minutes'`;
const UNSTARTED = `UPDATE work SET is_started = false, priority = 0, due_at = now() WHERE id = $1`;
const APPROVED_BY = `INSERT INTO approvals (payment_id, user_id, merchant_id, approved_at, attestation)
  SELECT id, $2, merchant_id, date_trunc('milliseconds', now()), repeat('a', 43) FROM payments WHERE id = $1`;

describe('a payout whose release was written into the database', () => {
  const testEnv = useTestEnvironment({
    startsServer: false,
    // The releases are still to be sent when the worker starts, on a slow machine too.
    environment: { MALIPO_PAYOUT_SEND_DEADLINE_MS: '600000' },
  });
  const payouts = new Map<string, Payout>();
  let approver: Browser;
  let approverId: UserId;
  let otherApproverId: UserId;

  const change = (payout: Payout, sql: string, ...values: readonly unknown[]) =>
    tamper(testEnv.db, sql, [payout.id, ...values]);

  /** What somebody with the database does to a payout, and whether the service has released it before. */
  const FORGERIES: Readonly<Record<string, readonly [isReleased: boolean, forge: (payout: Payout) => Promise<void>]>> =
    {
      'with an approval that nobody gave': [
        false,
        async (payout) => {
          await change(payout, APPROVED_BY, approverId);
          await change(payout, `UPDATE payments SET ${RELEASED} WHERE id = $1`);
          await change(payout, UNSTARTED);
        },
      ],
      'with everything that another release has': [
        false,
        async (payout) => {
          await change(payout, APPROVED_BY, approverId);
          await change(
            payout,
            `UPDATE payments SET ${RELEASED}, release_attestation =
             (SELECT release_attestation FROM payments WHERE release_attestation IS NOT NULL LIMIT 1) WHERE id = $1`,
          );
          await change(payout, UNSTARTED);
        },
      ],
      'with another amount': [
        true,
        (payout) => change(payout, 'UPDATE payments SET amount_minor = 1001 WHERE id = $1'),
      ],
      'with another payee': [
        true,
        (payout) => change(payout, 'UPDATE payments SET phone = $2 WHERE id = $1', phoneFor('200')),
      ],
      'with another reference of the operator': [
        true,
        (payout) => change(payout, 'UPDATE payments SET operator_reference = gen_random_uuid() WHERE id = $1'),
      ],
      'with another maker': [
        true,
        (payout) => change(payout, 'UPDATE payments SET created_by = $2 WHERE id = $1', otherApproverId),
      ],
      'with another approver': [
        true,
        (payout) => change(payout, 'UPDATE approvals SET user_id = $2 WHERE payment_id = $1', otherApproverId),
      ],
      'with an approval of another time': [
        true,
        (payout) =>
          change(payout, `UPDATE approvals SET approved_at = approved_at - interval '1 s' WHERE payment_id = $1`),
      ],
      'with one approval more': [true, (payout) => change(payout, APPROVED_BY, otherApproverId)],
      'to be sent later': [
        true,
        (payout) =>
          change(payout, `UPDATE payments SET send_deadline_at = send_deadline_at + interval '1 h' WHERE id = $1`),
      ],
      'by a version that attested none': [
        true,
        (payout) => change(payout, 'UPDATE payments SET release_attestation = NULL WHERE id = $1'),
      ],
    };

  before(async () => {
    await testEnv.startServer({ MALIPO_ROLES: 'api' });
    await fund(testEnv, testEnv.merchant, 100_000);
    const people = await Promise.all([1, 2].map(() => addPerson(testEnv, testEnv.merchant.id, ['approver'])));
    approverId = people[0]!.id;
    otherApproverId = people[1]!.id;
    approver = await logIn(testEnv, people[0]!);
    for (const what of ['as it was', ...Object.keys(FORGERIES)]) {
      const payout = await requestPayout(testEnv, '000', { amount: AMOUNT });
      payouts.set(what, payout);
      const [isReleased, forge] = FORGERIES[what] ?? [true, () => Promise.resolve()];
      if (isReleased) assert.equal((await release(approver, payout)).json['state'], 'released');
      await forge(payout);
    }
    // Since the releases the attestation key was replaced: the old one still verifies.
    await testEnv.startServer({
      MALIPO_ROLES: 'worker,dispatcher',
      MALIPO_ATTESTATION_KEYS: `new:${randomBytes(32).toString('base64')},${testEnv.environment['MALIPO_ATTESTATION_KEYS']!}`,
    });
  });

  it('is sent as the service released it, also after the attestation key was replaced', async function () {
    this.timeout(200_000);
    const payout = payouts.get('as it was')!;
    await untilPayoutState(testEnv, payout, 'succeeded', 3 * PATIENCE_MS);
    assert.equal(await transfersAccepted(testEnv, payout), 1);
  });

  for (const what of Object.keys(FORGERIES)) {
    it(`is not sent ${what}, keeps its money held, and is shown to a person`, async () => {
      const payout = payouts.get(what)!;
      await eventually(
        'the discrepancy',
        async () => {
          const { rowCount } = await testEnv.db.pool.query(
            `SELECT 1 FROM discrepancies WHERE payment_id = $1 AND kind = 'release_unattested' AND settled_at IS NULL`,
            [payout.id],
          );
          return rowCount === 1;
        },
        PATIENCE_MS,
      );
      assert.equal((await fetchPayout(testEnv, payout)).state, 'released');
      const { rows } = await testEnv.db.pool.query('SELECT send_begun_at FROM payments WHERE id = $1', [payout.id]);
      assert.deepEqual(rows, [{ send_begun_at: null }], 'no send was begun');
      assert.equal(await transfersAccepted(testEnv, payout), 0);
      assert.equal(await transfersAccepted(testEnv, { ...payout, phone: phoneFor('200') }), 0);
    });
  }

  it('leaves all its money held', async () => {
    const held = Object.keys(FORGERIES).length * AMOUNT;
    assert.deepEqual(await balanceOf(testEnv, testEnv.merchant), [100_000 - AMOUNT - held, held]);
    // What was forged is a fault of the ledger, until it is undone and settled.
    await change(payouts.get('with another amount')!, `UPDATE payments SET amount_minor = ${AMOUNT} WHERE id = $1`);
    for (const { id } of await findOpenDiscrepancies(testEnv.db, 100)) {
      await settleDiscrepancy(testEnv.db, { id, how: 'settled by the test', by: AMINA, at: new Date() });
    }
  });
});
