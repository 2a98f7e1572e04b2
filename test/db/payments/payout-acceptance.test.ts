// Payouts that are accepted in one statement: only while everything that decides about them is as it was when it was verified, and with
// what was committed while the statement waited for the merchant's account.
import assert from 'node:assert/strict';
import { backlogFull } from '../../../src/domain/errors.ts';
import { randomUUID } from 'node:crypto';
import { findApiKeyByHash, type ApiKey } from '../../../src/db/accounts/api-key.ts';
import { DELIVERIES_OWED, type Database, type News } from '../../../src/db/platform/database.ts';
import type { Environment } from '../../../src/domain/event.ts';
import { payoutObject } from '../../../src/domain/payments/payout.ts';
import { newId, type UserId } from '../../../src/domain/ids.ts';
import { createApiKey } from '../../../src/operations/accounts/create-api-key.ts';
import { createPayoutAcceptance, type AcceptPayout } from '../../../src/operations/payments/create-payout.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import { hashApiKey } from '../../../src/security/api-key.ts';
import { attestAll, rewrite } from '../../support/attestation.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';
import { contextOf, countRows, makeCollection, makeEndpoint, tamper, untilSoManyWait, whileLocked } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { balanceOf, makePerson, makeShop, requestPayout, setPolicy, type Shop } from './payout-rows.ts';
import { withWork } from '../work-rows.ts';

const LOCK = 'SELECT 1 FROM ledger_accounts WHERE id = $1 FOR NO KEY UPDATE';

type Accepting = {
  readonly shop: Shop;
  readonly key: ApiKey;
  readonly statements: string[];
  readonly news: News[];
  /** The payout's id, or null. */
  accept(amountMinor: bigint, more?: Partial<AcceptPayout>): Promise<string | null>;
  input(amountMinor: bigint, more?: Partial<AcceptPayout>): AcceptPayout;
};

async function makeAccepting(db: Database, environment: Environment, shop: Shop): Promise<Accepting> {
  const { merchantId, maker } = shop;
  const what = { name: 'Server', environment, scopes: ['payouts:write'], expiresAt: null, by: null } as const;
  const made = await createApiKey(db, { ...what, merchantId, createdBy: maker.userId, at: new Date() });
  const key = (await findApiKeyByHash(db, hashApiKey(made.key)))!;
  const statements: string[] = [];
  const news: News[] = [];
  const watched: Database = {
    ...db,
    run: (query, values) => {
      statements.push(query.name);
      return db.run(query, values);
    },
    announce: (each) => void news.push(each),
    withTransaction: () => assert.fail('a transaction was begun'),
    withLongReads: (limits, work) => {
      statements.push('reads');
      return db.withLongReads(limits, work);
    },
  };
  const acceptPayout = createPayoutAcceptance({ ...contextOf(watched), environment });
  const input = (amountMinor: bigint, more: Partial<AcceptPayout> = {}): AcceptPayout => ({
    merchantId,
    merchantCurrency: 'UGX',
    createdBy: maker.userId,
    apiKeyId: key.id,
    keyVersion: key.rowVersion,
    idempotencyKey: randomUUID(),
    request: {
      ...{ phone: '256772000100', amountMinor, reference: "O'Neil", currency: null },
      ...{ description: 'Rent ‘June’ "2"\\', metadata: { b: '1', a: '\u2028' } },
    },
    requestId: 'req_test',
    refusal: null,
    at: new Date(),
    ...more,
  });
  const accept = async (amountMinor: bigint, more: Partial<AcceptPayout> = {}) => {
    const created = await acceptPayout(input(amountMinor, more));
    return created?.kind === 'accepted' ? created.payments[0].id : null;
  };
  return { shop, key, statements, news, accept, input };
}

describe('a payout of a cached key', () => {
  const db = useDatabase();
  const of = useFixturePerCase(async () => makeAccepting(db, 'test', await makeShop(db, 10_000n)));

  const nothingOf = async () => {
    const { merchantId } = of.shop;
    assert.equal(await countRows(db, "payments WHERE kind = 'payout' AND merchant_id = $1", [merchantId]), 0);
    assert.equal(await countRows(db, 'idempotency_keys WHERE merchant_id = $1', [merchantId]), 0);
    assert.deepEqual(await balanceOf(db, merchantId), [10_000n, 0n]);
    assert.deepEqual(of.news, []);
  };
  const account = () => [`${of.shop.merchantId}/available`];

  it('is accepted in one statement once what it is decided on was read, at one moment', async () => {
    assert.ok(await of.accept(1000n));
    assert.deepEqual(of.statements.splice(0), ['reads', 'payout_accept']);
    for (let n = 0; n < 3; n++) assert.ok(await of.accept(1000n));
    assert.deepEqual(of.statements, ['payout_accept', 'payout_accept', 'payout_accept']);
    assert.deepEqual(await balanceOf(db, of.shop.merchantId), [6000n, 4000n]);
  });

  it('is recorded as the transaction of several statements records it, and announced', async () => {
    const { merchantId } = of.shop;
    await makeEndpoint(db, merchantId);
    const input = of.input(1000n);
    const id = await of.accept(1000n, input);
    const other = await requestPayout(db, of.shop, 1000n, { ...input, idempotencyKey: randomUUID() });
    assert.ok(id !== null && other.kind === 'accepted');
    const payout = await getPayout(db, merchantId, id);
    const {
      id: otherId,
      createdAt,
      updatedAt,
      expiresAt,
      ...expected
    } = await getPayout(db, merchantId, other.payments[0].id);
    const { operatorReference, requestAttestation, idempotencyKey } = payout;
    assert.deepEqual(payout, {
      ...expected,
      ...{ id, operatorReference, requestAttestation, idempotencyKey },
      ...{ createdAt: payout.createdAt, updatedAt: payout.createdAt },
      expiresAt: new Date(payout.createdAt.getTime() + expiresAt.getTime() - createdAt.getTime()),
    });
    assert.notEqual(id, otherId);
    assert.equal(updatedAt.getTime(), createdAt.getTime());
    const written = async (of: string) => {
      const { rows } = await db.pool.query<{ of: object }>(
        `SELECT json_build_array(t.kind, t.debit_account_id, t.credit_account_id, t.amount_minor, e.type, e.resource_version,
                                 e.request_id, d.state, d.endpoint_id, w.task, w.priority, w.is_started, (w.due_at - p.created_at)::text) AS of
         FROM payments p JOIN work w USING (id) JOIN ledger_transfers t ON t.payment_id = p.id JOIN events e ON e.payment_id = p.id
           JOIN deliveries d ON d.event_id = e.id WHERE p.id = $1`,
        [of],
      );
      return rows.map((row) => row.of);
    };
    assert.deepEqual(await written(id), await written(otherId));
    const again = await requestPayout(db, of.shop, 1000n, input);
    assert.equal(again.kind, 'replayed');
    assert.deepEqual(
      [again.response.status, JSON.parse(again.response.body)],
      [202, JSON.parse(JSON.stringify(payoutObject(payout)))],
    );
    assert.deepEqual(
      of.news.map((each) => (each === DELIVERIES_OWED ? each : [each.id, each.from, each.to])),
      [[id, null, 'queued'], DELIVERIES_OWED],
    );
  });

  it('is left, with nothing written, when any row that it was decided on was written, added or removed since', async () => {
    const { merchantId, maker } = of.shop;
    await makePerson(db, merchantId, ['owner']);
    const change = async (sql: string) => {
      // Kept again, and gone with the row that is written.
      assert.ok(await of.accept(100n));
      of.statements.length = 0;
      await db.pool.query(sql.replaceAll('$merchant', `'${merchantId}'`).replaceAll('$maker', `'${maker.userId}'`));
      assert.equal(await of.accept(100n), null, sql);
      assert.deepEqual(of.statements, ['payout_accept'], sql);
      await attestAll(db);
    };
    await change(`INSERT INTO policies (merchant_id, updated_at) VALUES ($merchant, now())`);
    await change('UPDATE policies SET updated_at = updated_at WHERE merchant_id = $merchant');
    await change('DELETE FROM policies WHERE merchant_id = $merchant');
    await change('UPDATE members SET roles = roles WHERE merchant_id = $merchant AND user_id = $maker');
    await change('UPDATE users SET name = name WHERE id = $maker');
    await change(`UPDATE members SET roles = '{owner,viewer}' WHERE merchant_id = $merchant AND 'owner' = ANY (roles)`);
    await change(`UPDATE users SET totp_secret_sealed = 's'
                  WHERE id IN (SELECT user_id FROM members WHERE merchant_id = $merchant AND 'owner' = ANY (roles))`);
    await change(`INSERT INTO passkeys (id, user_id, credential_id, public_key, name, created_at, counter, attestation)
                  VALUES ('${newId('psk')}', $maker, 'x', 'x', 'x', now(), 0, '1.${'A'.repeat(43)}')`);
    await change('DELETE FROM passkeys WHERE user_id = $maker');
    const payouts = await countRows(db, "payments WHERE kind = 'payout' AND merchant_id = $1", [merchantId]);
    await db.pool.query('UPDATE api_keys SET name = name WHERE id = $1', [of.key.id]);
    assert.equal(await of.accept(100n), null);
    assert.equal(await of.accept(100n), null, 'of a version that is not there any more nothing is kept');
    assert.equal(await countRows(db, "payments WHERE kind = 'payout' AND merchant_id = $1", [merchantId]), payouts);
    assert.equal(await countRows(db, 'idempotency_keys WHERE merchant_id = $1', [merchantId]), payouts);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('is left, with nothing written, for another maker, another version, and while no new work is accepted', async () => {
    assert.equal(await of.accept(1000n, { createdBy: of.shop.approver.userId }), null);
    assert.equal(await of.accept(1000n, { keyVersion: '1 (0,1)' }), null);
    assert.equal(await of.accept(1000n, { refusal: backlogFull() }), null);
    await nothingOf();
  });

  it('is left, with nothing written, when there is too little money or the database refuses a value', async () => {
    assert.equal(await of.accept(10_001n), null);
    const { request } = of.input(1000n);
    assert.equal(await of.accept(1000n, { request: { ...request, description: 'a\u0000' } }), null);
    assert.equal(await of.accept(1000n, { request: { ...request, currency: 'KES' } }), null);
    await nothingOf();
    of.statements.length = 0;
    assert.ok(await of.accept(10_000n));
    assert.deepEqual(of.statements, ['payout_accept'], 'what was read is kept');
  });

  it('is left when the clock stands before the moment at which its permission was read', async () => {
    assert.ok(await of.accept(1000n));
    assert.equal(await of.accept(1000n, { at: new Date(Date.now() - 60_000) }), null);
    assert.ok(await of.accept(1000n));
  });

  it('counts a refund that was requested while it waited for the account', async () => {
    const { merchantId, maker } = of.shop;
    assert.ok(await of.accept(1000n));
    const collection = await makeCollection(db, merchantId, 'succeeded', { amountMinor: 3000n });
    const values = [...account(), newId('rev'), merchantId, collection.id, maker.userId];
    const sql = withWork(`WITH locked AS MATERIALIZED (${LOCK})
      INSERT INTO payments (id, kind, merchant_id, collection_id, state, operator_reference, created_by,
        approvals_required, created_at, updated_at, expires_at, request_attestation, amount_minor, currency, operator, phone, reference)
      SELECT $2, 'reversal', $3, c.id, 'queued', gen_random_uuid(), $5, 1, now(), now(), now() + interval '1 day', repeat('a', 43),
        amount_minor, currency, operator, phone, reference FROM locked, payments c WHERE c.id = $4`);
    // Of 12,000 that are available 3,000 are to be refunded.
    assert.equal(await whileLocked(db, { sql, values }, () => of.accept(9001n)), null);
    assert.ok(await of.accept(9000n));
    assert.deepEqual(await balanceOf(db, merchantId), [3000n, 10_000n]);
  });

  it('counts for the limit of its key what was queued while it waited for the account', async () => {
    const { merchantId } = of.shop;
    await setPolicy(db, merchantId, { keyHeldLimitMinor: 3000n });
    assert.ok(await of.accept(1000n));
    let accepted: Promise<(string | null)[]> | undefined;
    await whileLocked(
      db,
      { sql: LOCK, values: account() },
      () => (accepted = Promise.all(Array.from({ length: 3 }, () => of.accept(1500n)))),
      () => untilSoManyWait(db, 3),
    );
    assert.equal((await accepted)!.filter((id) => id !== null).length, 1);
    assert.deepEqual(await balanceOf(db, merchantId), [7500n, 2500n]);
    assert.ok(await of.accept(500n), 'up to the limit itself');
    assert.equal(await of.accept(100n), null);
  });

  it('fails when the database does not answer', async () => {
    const run = () => Promise.reject(new Error('Connection terminated'));
    const acceptPayout = createPayoutAcceptance(contextOf({ ...db, run }));
    await assert.rejects(acceptPayout(of.input(1000n)), /Connection terminated/);
  });
});

describe('a payout of a cached key in the live environment', () => {
  const db = useDatabase();
  before(() => tamper(db, "UPDATE deployment SET environment = 'live'"));

  const secure = (userId: UserId) =>
    rewrite(db, "UPDATE users SET totp_secret_sealed = 'sealed' WHERE id = $1", [userId]);
  const of = useFixturePerCase(async () => {
    const shop = await makeShop(db, 10_000n);
    const owners = [await makePerson(db, shop.merchantId, ['owner']), await makePerson(db, shop.merchantId, ['owner'])];
    for (const { userId } of owners) await secure(userId);
    return { ...(await makeAccepting(db, 'live', shop)), owners };
  });

  it('is accepted in one statement while the merchant has two owners with a second factor', async () => {
    for (let n = 0; n < 3; n++) assert.ok(await of.accept(1000n));
    assert.deepEqual(of.statements, ['reads', 'payout_accept', 'payout_accept', 'payout_accept']);
  });

  it('is left once an owner has left, was demoted or has no second factor, also where the database itself does not look', async () => {
    const second = of.owners[1]!.userId;
    // As the owner of the tables could: past the trigger that counts the owners.
    await tamper(db, 'ALTER TABLE payments DISABLE TRIGGER payments_check_new');
    try {
      for (const [loss, repair] of [
        [
          'UPDATE members SET removed_at = now() WHERE user_id = $1',
          'UPDATE members SET removed_at = NULL WHERE user_id = $1',
        ],
        [
          "UPDATE members SET roles = '{viewer}' WHERE user_id = $1",
          "UPDATE members SET roles = '{owner}' WHERE user_id = $1",
        ],
        [
          'UPDATE users SET totp_secret_sealed = NULL WHERE id = $1',
          "UPDATE users SET totp_secret_sealed = 's' WHERE id = $1",
        ],
      ] as const) {
        assert.ok(await of.accept(100n));
        await rewrite(db, loss, [second]);
        for (let n = 0; n < 2; n++) assert.equal(await of.accept(100n), null, loss);
        await rewrite(db, repair, [second]);
        assert.ok(await of.accept(100n), repair);
      }
      await db.pool.query("UPDATE members SET roles = '{owner,maker}' WHERE user_id = $1", [second]);
      for (let n = 0; n < 2; n++) assert.equal(await of.accept(100n), null, 'written by hand, so no owner');
    } finally {
      await tamper(db, 'ALTER TABLE payments ENABLE TRIGGER payments_check_new');
    }
  });

  it('is accepted after a third owner has come, whose rows are confirmed from then on', async () => {
    assert.ok(await of.accept(100n));
    const third = await makePerson(db, of.shop.merchantId, ['owner']);
    assert.equal(await of.accept(100n), null);
    assert.ok(await of.accept(100n));
    await secure(third.userId);
    assert.equal(await of.accept(100n), null);
    assert.ok(await of.accept(100n));
  });

  it('is left while its maker’s account was recovered, and the key was made after that', async () => {
    assert.ok(await of.accept(100n));
    const at = (when: string) => `UPDATE users SET recovered_at = now() - interval '${when}' WHERE id = $1`;
    await rewrite(db, at('1 hour'), [of.shop.maker.userId]);
    for (let n = 0; n < 2; n++) assert.equal(await of.accept(100n), null);
    await tamper(db, at('25 hours'), [of.shop.maker.userId]);
    await attestAll(db);
    assert.ok(await of.accept(100n));
  });
});
