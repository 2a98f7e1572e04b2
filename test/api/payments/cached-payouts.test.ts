// Payouts of a cached key: accepted in one statement, which finds out by itself what has happened to whatever decides about them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Role } from '../../../src/domain/accounts/member.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { hashApiKey } from '../../../src/security/api-key.ts';
import { call, collectionFields, type ApiResponse, type CallOptions } from '../../support/api.ts';
import { rewrite } from '../../support/attestation.ts';
import { fund } from '../../support/payouts.ts';
import { addPerson } from '../../support/people.ts';
import type { TestMerchant } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { countRows, oneRow, whileLocked, inOpenTransaction } from '../../db/rows.ts';
import { API_ONLY, assertError } from '../responses.ts';

const PATH = '/v1/api/payouts';
const AMOUNT = 1000;

describe('a cached key that creates payouts', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let merchant: TestMerchant;

  // The first request verifies the key, the second what its payouts are decided on.
  beforeEach(async () => {
    merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 100_000);
    for (let n = 0; n < 2; n++) assert.equal((await create()).status, 202);
  });

  const create = (options: CallOptions = {}): Promise<ApiResponse> =>
    call(testEnv.baseUrl, 'POST', PATH, {
      key: merchant.key,
      json: collectionFields({ amount: AMOUNT }),
      ...options,
    });
  const payouts = () => countRows(testEnv.db, "payments WHERE kind = 'payout' AND merchant_id = $1", [merchant.id]);
  const held = async () =>
    Number(
      (
        await oneRow<{ held: string }>(testEnv.db, 'SELECT balance_minor AS held FROM ledger_accounts WHERE id = $1', [
          `${merchant.id}/held`,
        ])
      ).held,
    );
  const keyOf = () => hashApiKey(merchant.key);
  /** Refused with this code, and nothing is held. */
  const assertRefused = async (code: Parameters<typeof assertError>[1], options: CallOptions = {}) => {
    const before = [await payouts(), await held()];
    assertError(await create(options), code);
    assert.deepEqual([await payouts(), await held()], before);
  };

  it('has its payout accepted without being verified again', async () => {
    await inOpenTransaction(testEnv.db, async (client) => {
      // Anyone who verifies a key reads this table, and would wait.
      await client.query('LOCK TABLE api_key_uses IN ACCESS EXCLUSIVE MODE');
      for (let n = 0; n < 3; n++) assert.equal((await create()).status, 202);
    });
    assert.equal(await held(), 5 * AMOUNT);
  });

  it('is refused at once when it was revoked, has expired, or was changed by hand', async () => {
    await rewrite(testEnv.db, 'UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [keyOf()]);
    await assertRefused('api_key_revoked');
    merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 100_000);
    for (let n = 0; n < 2; n++) assert.equal((await create()).status, 202);
    await testEnv.db.pool.query(`UPDATE api_keys SET expires_at = now() + interval '1 h' WHERE key_sha256 = $1`, [
      keyOf(),
    ]);
    await assertRefused('api_key_invalid');
  });

  it('is refused once its time is over, although nobody wrote its row', async () => {
    const key = await testEnv.addKey(merchant.id, ['payouts:write'], new Date(Date.now() + 3000));
    for (let n = 0; n < 3; n++) assert.equal((await create({ key })).status, 202);
    await testEnv.db.pool.query('SELECT pg_sleep(3)');
    await assertRefused('api_key_expired', { key });
  });

  it('is refused once its maker was removed, or lost the role, also by hand', async () => {
    for (const [change, code] of [
      ["roles = ARRAY['viewer']", 'insufficient_scope'],
      ['removed_at = now()', 'insufficient_scope'],
    ] as const) {
      await rewrite(testEnv.db, `UPDATE members SET ${change} WHERE user_id = $1`, [merchant.makerId]);
      await assertRefused(code);
      await rewrite(testEnv.db, "UPDATE members SET roles = ARRAY['maker'], removed_at = NULL WHERE user_id = $1", [
        merchant.makerId,
      ]);
      for (let n = 0; n < 2; n++) assert.equal((await create()).status, 202);
    }
    await testEnv.db.pool.query("UPDATE members SET roles = ARRAY['admin'] WHERE user_id = $1", [merchant.makerId]);
    await assertRefused('insufficient_scope');
  });

  it('follows the policy at once, where there was none, where it was changed, and where it is gone', async () => {
    const approvals = async () => {
      const response = await create();
      assert.equal(response.status, 202, response.text);
      return response.json['approvals_required'];
    };
    assert.equal(await approvals(), 1);
    const INSERT = 'INSERT INTO policies (merchant_id, two_approvers_above_minor, updated_at) VALUES ($1, 500, now())';
    await rewrite(testEnv.db, INSERT, [merchant.id]);
    for (let n = 0; n < 3; n++) assert.equal(await approvals(), 2);
    await rewrite(testEnv.db, 'UPDATE policies SET two_approvers_above_minor = 5000 WHERE merchant_id = $1', [
      merchant.id,
    ]);
    for (let n = 0; n < 3; n++) assert.equal(await approvals(), 1);
    await rewrite(testEnv.db, 'UPDATE policies SET key_held_limit_minor = 1 WHERE merchant_id = $1', [merchant.id]);
    await assertRefused('state_conflict');
    await rewrite(testEnv.db, 'DELETE FROM policies WHERE merchant_id = $1', [merchant.id]);
    for (let n = 0; n < 3; n++) assert.equal(await approvals(), 1);
    await rewrite(testEnv.db, INSERT, [merchant.id]);
    assert.equal(await approvals(), 2);
    await testEnv.db.pool.query('UPDATE policies SET two_approvers_above_minor = NULL WHERE merchant_id = $1', [
      merchant.id,
    ]);
    await assertRefused('permission_denied');
  });

  it('waits where the policy says so for an account that was recovered after the key was made', async () => {
    const wait = 'INSERT INTO policies (merchant_id, approver_wait_ms, updated_at) VALUES ($1, 3600000, now())';
    await rewrite(testEnv.db, wait, [merchant.id]);
    for (let n = 0; n < 2; n++) assert.equal((await create()).status, 202);
    // Dated as if the account had been recovered before the key was made.
    const recover = "UPDATE users SET recovered_at = now() - interval '10 minutes' WHERE id = $1";
    await rewrite(testEnv.db, recover, [merchant.makerId]);
    await assertRefused('insufficient_scope');
  });

  it('gets the stored response of its idempotency key, or learns that it was used otherwise or is in use', async () => {
    const idempotencyKey = randomUUID();
    const first = await create({ idempotencyKey });
    const again = await create({ idempotencyKey });
    assert.deepEqual([again.status, again.text, again.headers.get('idempotent-replayed')], [202, first.text, 'true']);
    await assertRefused('idempotency_key_reused', { idempotencyKey, json: collectionFields({ amount: 2000 }) });
    // What is wrong with the request itself comes after that.
    await assertRefused('idempotency_key_reused', {
      idempotencyKey,
      json: { ...collectionFields(), currency: 'KES' },
    });
    const busy = randomUUID();
    const lock = {
      sql: `SELECT pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0)), 1 FROM ledger_accounts WHERE id = $3 FOR UPDATE`,
      values: [merchant.id, busy, `${merchant.id}/available`],
    };
    // Refused and repeated at once, no matter who has the account.
    const other = () => create();
    await whileLocked(testEnv.db, lock, other, async () => {
      assertError(await create({ idempotencyKey: busy }), 'idempotency_key_in_flight');
      assert.equal((await create({ idempotencyKey })).text, first.text);
    });
  });

  it('creates no second payout after the time of its idempotency key while the first one is pending', async () => {
    const idempotencyKey = randomUUID();
    assert.equal((await create({ idempotencyKey })).status, 202);
    await testEnv.db.pool.query("UPDATE idempotency_keys SET created_at = created_at - interval '31 days'");
    await assertRefused('idempotency_key_reused', { idempotencyKey });
  });

  it('is refused for what is wrong with it before what is wrong with the request', async () => {
    await rewrite(testEnv.db, 'UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [keyOf()]);
    const wrong: CallOptions[] = [
      { idempotencyKey: null },
      { json: { phone: 'nobody' } },
      { json: { ...collectionFields(), currency: 'KES' } },
      { raw: { type: 'text/plain', body: 'x' } },
    ];
    for (const options of wrong) await assertRefused('api_key_revoked', options);
  });

  it('gets 402 with too little money, which is stored, and holds the last unit', async () => {
    const idempotencyKey = randomUUID();
    const json = collectionFields({ amount: 98_001 });
    await assertRefused('balance_insufficient', { idempotencyKey, json });
    const again = await create({ idempotencyKey, json });
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [402, 'true']);
    assert.equal((await create({ json: collectionFields({ amount: 98_000 }) })).status, 202);
    assert.equal(await held(), 100_000);
  });

  it('holds no more than the balance, and exactly that, however many are requested at once', async () => {
    const answers = await Promise.all(Array.from({ length: 120 }, () => create()));
    assert.equal(answers.filter(({ status }) => status === 202).length, 98);
    assert.equal(answers.filter(({ status }) => status === 402).length, 22);
    assert.deepEqual([await payouts(), await held()], [100, 100_000]);
    assert.deepEqual(await checkLedger(testEnv.db), []);
  });

  it('holds no more than the policy lets one key hold, however many are requested at once', async () => {
    const INSERT = 'INSERT INTO policies (merchant_id, key_held_limit_minor, updated_at) VALUES ($1, 10500, now())';
    await rewrite(testEnv.db, INSERT, [merchant.id]);
    for (let n = 0; n < 2; n++) assert.equal((await create()).status, 202);
    const answers = await Promise.all(Array.from({ length: 60 }, () => create()));
    assert.equal(answers.filter(({ status }) => status === 202).length, 6);
    for (const answer of answers) if (answer.status !== 202) assertError(answer, 'state_conflict');
    assert.deepEqual([await payouts(), await held()], [10, 10_000]);
    assert.deepEqual(await checkLedger(testEnv.db), []);
  });

  it('creates nothing once its revocation is committed, however many requests are in progress', async () => {
    const posts = Array.from({ length: 8 }, async () => {
      const seen = [];
      for (let n = 0; n < 12; n++) {
        const begunAtMs = performance.now();
        seen.push({ begunAtMs, status: (await create({ json: collectionFields({ amount: 100 }) })).status });
      }
      return seen;
    });
    await testEnv.db.pool.query('SELECT pg_sleep(0.05)');
    await rewrite(testEnv.db, 'UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [keyOf()]);
    const revokedAtMs = performance.now();
    const all = (await Promise.all(posts)).flat();
    const accepted = all.filter(({ status }) => status === 202);
    assert.equal(accepted.length + all.filter(({ status }) => status === 401).length, all.length);
    assert.ok(accepted.length < all.length);
    assert.ok(accepted.every(({ begunAtMs }) => begunAtMs < revokedAtMs));
    assert.equal(await payouts(), accepted.length + 2);
  });

  it('is accepted again when rows were written and are as good as before', async () => {
    const roles: readonly Role[] = ['owner'];
    const { id } = await addPerson(testEnv, merchant.id, roles);
    assert.equal((await create()).status, 202);
    for (const sql of [
      `UPDATE users SET totp_last_step = 1 WHERE id = '${id}'`,
      `UPDATE members SET roles = roles WHERE user_id = '${merchant.makerId}'`,
    ]) {
      await testEnv.db.pool.query(sql);
      for (let n = 0; n < 3; n++) assert.equal((await create()).status, 202);
    }
  });
});
