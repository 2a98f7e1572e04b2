// Money that became available by rows which somebody wrote by hand, with the account of the application: nobody can spend it.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { statement, type Database } from '../../../src/db/platform/database.ts';
import { isPaymentAttested } from '../../../src/db/payments/attested-credit.ts';
import { findAttestedFunds } from '../../../src/db/payments/attested-funds.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import { newId, type CollectionId, type MerchantId } from '../../../src/domain/ids.ts';
import { findOpenDiscrepancies } from '../../../src/db/payments/discrepancy.ts';
import { checkMerchantEntries, checkLedgerChanges } from '../../../src/operations/payments/check-ledger-changes.ts';
import { attestRows } from '../../../src/operations/accounts/attest-rows.ts';
import { createRowAttestor } from '../../../src/security/row-attestation.ts';
import type { KeyRing } from '../../../src/security/sealing.ts';
import { ATTESTATION_RING } from '../../support/attestation.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { settleDiscrepancy } from '../../../src/operations/payments/settle-discrepancy.ts';
import { AMINA } from '../../support/staff.ts';
import { makeCollection, allRows } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';
import { balanceOf, codeOr, makePayout, makeShop, queue, release, releaseMany, type Shop } from './payout-rows.ts';
import { makeReversal, queueReversal, recordReversal, releaseRefund } from './refund-rows.ts';
import { valuesOf } from '../../support/values-of.ts';

const GENUINE = 10_000n;
const FORGED = 1_000_000n;
const UNATTESTED = 'credited to the available balance, but this service recorded no reason';

/** An attestation by nobody. */
const MADE_UP = `1.${'f'.repeat(43)}`;

describe('money that no process of the service recorded', () => {
  const db = useDatabasePerCase();

  // With the account of the application, whose statements pass every rule of the database.
  const run = (text: string, values: readonly unknown[]) => db.run(statement(`t_${randomUUID()}`)`${text}`, values);

  /** Takes a prompted collection to `succeeded`: row, transfer, event, all in one transaction as the service does it. */
  async function pay({ id, merchantId }: { id: CollectionId; merchantId: MerchantId }, attestation = MADE_UP) {
    await run(
      `WITH moved AS (
         UPDATE payments SET state = 'succeeded', previous_state = state, version = version + 1, updated_at = now(),
           operator_receipt = $2 WHERE id = $1 RETURNING *),
       transfer AS (
         INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency,
           created_at, status_kind, status_queried_at, status_attestation)
         SELECT 'collection_paid', id, 'operator/' || operator || '/' || currency, merchant_id || '/available', amount_minor,
           currency, now(), 'paid', now(), $3 FROM moved)
       INSERT INTO events (id, merchant_id, type, payment_id, resource_version, body, created_at)
       SELECT $4, merchant_id, 'collection.succeeded', id, version, '{}', now() FROM moved`,
      [id, randomUUID(), attestation, newId('evt')],
    );
    return { id, merchantId };
  }

  const forge = async (shop: Shop, attestation?: string, amountMinor = FORGED) =>
    pay(await makeCollection(db, shop.merchantId, 'prompted', { amountMinor }), attestation);

  const openKinds = async () =>
    (await findOpenDiscrepancies(db, 100)).map(({ subject, kind }) => `${kind} ${subject}`).sort();

  it('is spent by no release, whichever of the payouts holds it', async () => {
    const shop = await makeShop(db, GENUINE);
    const genuine = await queue(db, shop, GENUINE);
    await forge(shop);
    const { id } = await queue(db, shop, FORGED);
    assert.equal(await codeOr(release(db, shop.approver, id)), 'state_conflict');
    assert.equal(
      await codeOr(release(db, shop.approver, genuine.id)),
      'state_conflict',
      'more is held than was received',
    );
    const state = (await getPayout(db, shop.merchantId, id)).state;
    assert.equal(state, 'queued');
  });

  it('keeps no release of other money of the merchant', async () => {
    const shop = await makeShop(db, GENUINE);
    await forge(shop);
    const { id } = await queue(db, shop, GENUINE);
    await release(db, shop.approver, id);
    assert.equal((await getPayout(db, shop.merchantId, id)).state, 'released');
  });

  it('is refused payout by payout where several are released', async () => {
    const shop = await makeShop(db, GENUINE);
    await forge(shop);
    const { id } = await queue(db, shop, GENUINE + 1n);
    const { response } = await releaseMany(db, shop.approver, [id]);
    assert.match(response.body, /"payout":null,"error":\{"code":"state_conflict"/);
  });

  it('goes back to no payer', async () => {
    const shop = await makeShop(db, GENUINE);
    const { id } = await forge(shop, MADE_UP, 100n);
    const refund = await queueReversal(db, shop, { id });
    assert.equal(await codeOr(releaseRefund(db, shop.approver, refund.id)), 'state_conflict');
  });

  it('is not covered by the attestation of another transfer', async () => {
    const shop = await makeShop(db, GENUINE);
    const { rows } = await db.pool.query<{ a: string }>('SELECT status_attestation AS a FROM ledger_transfers LIMIT 1');
    await forge(shop, rows[0]?.a, GENUINE);
    const { id } = await queue(db, shop, 2n * GENUINE);
    assert.equal(await codeOr(release(db, shop.approver, id)), 'state_conflict');
  });

  it('is found by the check of changes as a discrepancy, and stays unspendable behind its checkpoint', async () => {
    const shop = await makeShop(db, GENUINE);
    const { id } = await forge(shop);
    const found = await checkLedgerChanges(db, new Date());
    assert.deepEqual(found, [{ subject: id, fault: UNATTESTED }]);
    assert.deepEqual(await openKinds(), [`credit_unattested ${id}`]);
    assert.deepEqual(await checkLedgerChanges(db, new Date()), [], 'once');
    const account = `${shop.merchantId}/available`;
    const subjects = async () => (await checkLedger(db)).map(({ subject }) => subject);
    assert.deepEqual(await subjects(), [account, id]);
    const payout = await queue(db, shop, FORGED);
    assert.equal(await codeOr(release(db, shop.approver, payout.id)), 'state_conflict');
    const [open] = await findOpenDiscrepancies(db, 1);
    await settleDiscrepancy(db, { id: open!.id, how: 'written by hand', by: AMINA, at: new Date() });
    assert.deepEqual(await subjects(), [account], 'as long as that money is there');
    assert.equal(await codeOr(release(db, shop.approver, payout.id)), 'state_conflict', 'settled is not received');
  });

  it('is found although somebody wrote beforehand that it is settled, no matter who checks first', async () => {
    const shop = await makeShop(db, GENUINE);
    const { id } = await forge(shop);
    await run(
      `INSERT INTO discrepancies (merchant_id, payment_id, kind, found_at, settled_at, settled_how)
       VALUES ($1, $2, 'credit_unattested', now(), now(), 'by hand')`,
      [shop.merchantId, id],
    );
    await checkMerchantEntries(db, { merchantId: shop.merchantId, few: 0n });
    assert.deepEqual(valuesOf(await checkLedger(db), 'subject'), [`${shop.merchantId}/available`]);
  });

  it('is found by the check of the whole ledger before any other check', async () => {
    const shop = await makeShop(db, GENUINE);
    const { id } = await forge(shop);
    assert.deepEqual(await checkLedger(db), [{ subject: id, fault: UNATTESTED }]);
  });

  for (const [what, sql] of [
    ['a checkpoint written by hand', ''],
    [
      'a checkpoint whose sum was changed',
      'UPDATE ledger_checkpoints SET unattested_minor = 0, entry = entry + 1, balance_minor = $2 WHERE account_id = $1',
    ],
  ] as const) {
    it(`is not covered by ${what}`, async () => {
      const shop = await makeShop(db, GENUINE);
      const account = `${shop.merchantId}/available`;
      await forge(shop);
      if (sql === '') {
        await run(
          `INSERT INTO ledger_checkpoints (account_id, entry, balance_minor, attestation)
           SELECT id, entry_count, balance_minor, $2 FROM ledger_accounts WHERE id = $1`,
          [account, MADE_UP],
        );
      } else {
        await checkLedgerChanges(db, new Date());
        await makeCollection(db, shop.merchantId, 'succeeded', { amountMinor: 1n });
        await run(sql, [account, (await balanceOf(db, shop.merchantId))[0]]);
      }
      const { id } = await queue(db, shop, FORGED);
      assert.equal(await codeOr(release(db, shop.approver, id)), 'state_conflict');
      const faults = await checkLedgerChanges(db, new Date());
      assert.ok(
        faults.some(
          ({ subject, fault }) =>
            subject === account && fault.includes('the checkpoint was not written by this service'),
        ),
      );
      assert.ok(
        (await checkLedger(db)).some(
          ({ subject, fault }) =>
            subject === account && fault.includes('the checkpoint was not written by this service'),
        ),
      );
    });
  }

  it('is what a hold gives back that somebody voided by hand', async () => {
    const shop = await makeShop(db, GENUINE);
    const { id, merchantId } = await makePayout(db, shop, 'reconciling', GENUINE);
    await run(
      `WITH moved AS (
         UPDATE payments SET state = 'failed', previous_state = state, version = version + 1, updated_at = now(),
           failure_code = 'operator_rejected', failed_by = 'declined' WHERE id = $1 RETURNING *),
       transfer AS (
         INSERT INTO ledger_transfers (kind, payment_id, debit_account_id, credit_account_id, amount_minor, currency,
           created_at, status_kind, status_queried_at, status_attestation)
         SELECT 'payout_voided', id, merchant_id || '/held', merchant_id || '/available', amount_minor, currency, now(),
           'declined', now(), $2 FROM moved)
       INSERT INTO events (id, merchant_id, type, payment_id, resource_version, body, created_at)
       SELECT $3, merchant_id, 'payout.failed', id, version, '{}', now() FROM moved`,
      [id, MADE_UP, newId('evt')],
    );
    assert.deepEqual(await balanceOf(db, merchantId), [GENUINE, 0n]);
    const again = await queue(db, shop, GENUINE);
    assert.equal(await codeOr(release(db, shop.approver, again.id)), 'state_conflict');
    assert.deepEqual(await checkLedgerChanges(db, new Date()), [{ subject: id, fault: UNATTESTED }]);
  });

  it('is what a refund reserves no more that somebody wrote as failed by hand', async () => {
    const shop = await makeShop(db, GENUINE);
    const refund = await makeReversal(
      db,
      shop,
      await makeCollection(db, shop.merchantId, 'succeeded', { amountMinor: GENUINE }),
    );
    await run(
      `UPDATE payments SET state = 'failed', previous_state = state, version = version + 1,
         failure_code = 'operator_rejected', failed_by = 'declined', updated_at = now(),
         status_kind = 'declined', status_queried_at = now(), status_attestation = $2 WHERE id = $1`,
      [refund.id, MADE_UP],
    );
    const { id } = await queue(db, shop, 2n * GENUINE);
    assert.equal(await codeOr(release(db, shop.approver, id)), 'state_conflict');
    assert.deepEqual(await checkLedgerChanges(db, new Date()), [{ subject: refund.id, fault: UNATTESTED }]);
    assert.ok((await checkLedger(db)).some(({ subject }) => subject === refund.id));
    assert.deepEqual(await openKinds(), [`credit_unattested ${refund.id}`]);
  });

  /** A genuine collection whose refund the operator refused. */
  async function refuseRefund(shop: Shop): Promise<Collection> {
    const collection = await makeCollection(db, shop.merchantId, 'succeeded', { amountMinor: GENUINE });
    const refund = await makeReversal(db, shop, collection);
    await recordReversal(db, refund, { kind: 'declined', failureCode: 'operator_rejected' });
    assert.deepEqual(await checkLedgerChanges(db, new Date()), []);
    return collection;
  }

  it('is none of what a refund reserved that the operator refused', async () => {
    const shop = await makeShop(db, GENUINE);
    await refuseRefund(shop);
    assert.deepEqual(await checkLedger(db), []);
    const { id } = await queue(db, shop, 2n * GENUINE);
    await release(db, shop.approver, id);
  });

  it('is none of what was recorded under a key that was replaced since, as the keys are replaced', async () => {
    const shop = await makeShop(db, GENUINE);
    const refunded = await refuseRefund(shop);
    const [old] = ATTESTATION_RING;
    const next = { name: 'next', key: createSecretKey(randomBytes(32)) };
    const withRing = (keyRing: KeyRing): Database => ({
      ...db,
      attestor: createRowAttestor({ environment: 'test', keyRing, report: () => undefined }),
      withTransaction: (work) =>
        db.withTransaction((tx) =>
          work({ ...tx, attestor: createRowAttestor({ environment: 'test', keyRing, report: () => undefined }) }),
        ),
      withLongReads: (limits, work) =>
        db.withLongReads(limits, (reads) =>
          work({ ...reads, attestor: createRowAttestor({ environment: 'test', keyRing, report: () => undefined }) }),
        ),
    });
    const renewed = await attestRows(withRing([next, old]), { work: 'renew', by: null, at: new Date() });
    assert.deepEqual(renewed.unattested, []);
    const replaced = withRing([next]);
    assert.deepEqual(await checkLedger(replaced), []);
    assert.deepEqual(await checkLedgerChanges(replaced, new Date()), []);
    const funds = await findAttestedFunds(replaced, shop.merchantId);
    assert.equal(funds.unattestedMinor, 0n);
    assert.equal(await isPaymentAttested(replaced, refunded.id, funds.checkedTo), true);
    assert.equal(await isPaymentAttested(replaced, refunded.id, 0n), false, 'no checkpoint covers it');
  });

  it('is none of what payouts in every state gave back', async () => {
    const shop = await makeShop(db, 1_000_000n);
    for (const state of ['failed', 'rejected', 'cancelled', 'expired', 'reversed'] as const) {
      await makePayout(db, shop, state, GENUINE);
    }
    assert.deepEqual(await checkLedger(db), []);
    const { id } = await queue(db, shop, 1_000_000n);
    await release(db, shop.approver, id);
    assert.deepEqual(await checkLedgerChanges(db, new Date()), []);
  });

  it('is looked for before a release in entries that no check has seen, which moves the checkpoint', async () => {
    const shop = await makeShop(db, GENUINE);
    for (let n = 0; n < 5; n++) await makeCollection(db, shop.merchantId, 'succeeded', { amountMinor: 1n });
    await checkMerchantEntries(db, { merchantId: shop.merchantId, few: 3n });
    assert.deepEqual(await allRows(db, 'SELECT entry FROM ledger_checkpoints'), [{ entry: '6' }]);
  });
});
