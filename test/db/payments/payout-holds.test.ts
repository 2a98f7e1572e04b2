// Money that payouts hold: never more than the balance, nor more by one API key than the policy allows, and once per idempotency
// key, whatever is requested at the same time.
import assert from 'node:assert/strict';
import { backlogFull } from '../../../src/domain/errors.ts';
import { randomUUID } from 'node:crypto';
import type { ApiKeyId, MerchantId } from '../../../src/domain/ids.ts';
import { createApiKey } from '../../../src/operations/accounts/create-api-key.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import type { CreatedPayout } from '../../../src/operations/payments/create-payout.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { getBalance } from '../../../src/db/payments/ledger.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import {
  balanceOf,
  codeOr,
  decide,
  makeShop,
  queue,
  recordPayout,
  release,
  requestPayout,
  setPolicy,
  SOON_OVER,
  type Shop,
} from './payout-rows.ts';
import { countRows, makeCollection, makeEndpoint, oneRow } from '../rows.ts';
import { useDatabase } from '../use-database.ts';

const isKind =
  (kind: CreatedPayout['kind']) =>
  (result: unknown): result is CreatedPayout =>
    typeof result === 'object' && result !== null && 'kind' in result && result.kind === kind;

describe('concurrent requests for payouts', () => {
  const db = useDatabase();

  const heldByQueued = async (merchantId: MerchantId) =>
    BigInt(
      (
        await oneRow<{ sum: string }>(
          db,
          `SELECT coalesce(sum(amount_minor), 0) AS sum FROM payments WHERE kind = 'payout' AND merchant_id = $1 AND state = 'queued'`,
          [merchantId],
        )
      ).sum,
    );
  const eventsOf = (merchantId: MerchantId) =>
    countRows(db, `events WHERE merchant_id = $1 AND type LIKE 'payout.%'`, [merchantId]);

  it('hold money as far as the balance goes, and return 402 beyond it', async () => {
    const shop = await makeShop(db, 50_000n);
    const answers = await Promise.all(Array.from({ length: 200 }, () => requestPayout(db, shop, 1000n)));
    assert.equal(answers.filter(isKind('accepted')).length, 50);
    const refused = answers.filter(isKind('refused'));
    assert.equal(refused.length, 150);
    for (const { response } of refused) {
      assert.equal(response.status, 402);
      assert.match(response.body, /"code":"balance_insufficient".*"request_id":"req_test"/);
    }
    assert.deepEqual(await balanceOf(db, shop.merchantId), [0n, 50_000n]);
    assert.equal(await heldByQueued(shop.merchantId), 50_000n);
    assert.equal(await eventsOf(shop.merchantId), 50);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('hold no more than the balance in different amounts, and refuse none that still fits', async () => {
    const shop = await makeShop(db, 60_000n);
    const amounts = Array.from({ length: 200 }, (_, index) => BigInt(100 + ((index * 7919) % 1900)));
    const answers = await Promise.all(amounts.map((amountMinor) => requestPayout(db, shop, amountMinor)));
    const [available, held] = await balanceOf(db, shop.merchantId);
    assert.ok(available >= 0n, `${available}`);
    assert.equal(available + held, 60_000n);
    assert.equal(held, await heldByQueued(shop.merchantId));
    const refused = amounts.filter((_, index) => answers[index]?.kind === 'refused');
    assert.ok(refused.length > 0 && refused.length < amounts.length);
    for (const amount of refused) assert.ok(amount > available, `${amount} of ${available}`);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('take nothing from the balance of another merchant', async () => {
    const rich = await makeShop(db, 20_000n);
    const poor = await makeShop(db, 0n);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => requestPayout(db, index % 2 === 0 ? rich : poor, 1000n)),
    );
    assert.deepEqual(await balanceOf(db, rich.merchantId), [0n, 20_000n]);
    assert.deepEqual(await balanceOf(db, poor.merchantId), [0n, 0n]);
    assert.equal(answers.filter(isKind('accepted')).length, 20);
  });

  it('leave the right sum while collections are paid at the same time', async () => {
    const shop = await makeShop(db, 10_000n);
    const paying = Array.from({ length: 20 }, () => makeCollection(db, shop.merchantId, 'succeeded'));
    const requests = Array.from({ length: 60 }, () => requestPayout(db, shop, 1000n));
    const [answers] = await Promise.all([Promise.all(requests), Promise.all(paying)]);
    const created = BigInt(answers.filter(isKind('accepted')).length);
    assert.ok(created >= 10n);
    assert.deepEqual(await balanceOf(db, shop.merchantId), [110_000n - created * 1000n, created * 1000n]);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('hold the last unit of the balance, and not one more', async () => {
    const shop = await makeShop(db, 1000n);
    assert.equal((await requestPayout(db, shop, 1001n)).kind, 'refused');
    assert.equal((await requestPayout(db, shop, 1000n)).kind, 'accepted');
    assert.equal((await requestPayout(db, shop, 100n)).kind, 'refused');
    assert.deepEqual(await balanceOf(db, shop.merchantId), [0n, 1000n]);
  });

  it('store the payout as it was requested, with a delivery to the merchant’s endpoint', async () => {
    const shop = await makeShop(db, 1000n);
    await makeEndpoint(db, shop.merchantId);
    const payout = await queue(db, shop, 1000n);
    assert.deepEqual(await getPayout(db, shop.merchantId, payout.id), payout);
    const delivery = await oneRow<{ type: string; state: string }>(
      db,
      `SELECT type, deliveries.state FROM deliveries JOIN events ON events.id = event_id WHERE payment_id = $1`,
      [payout.id],
    );
    assert.deepEqual(delivery, { type: 'payout.queued', state: 'pending' });
  });
});

describe('the unreleased payouts of an API key', () => {
  const db = useDatabase();

  const addKey = async ({ merchantId, maker }: Shop): Promise<ApiKeyId> => {
    const what = { name: 'Server', environment: 'test', scopes: ['payouts:write'], expiresAt: null, by: null } as const;
    return (await createApiKey(db, { ...what, merchantId, createdBy: maker.userId, at: new Date() })).id;
  };
  const heldBy = async (key: ApiKeyId) => {
    const sql = `SELECT coalesce(sum(amount_minor), 0)::int AS held FROM payments WHERE kind = 'payout' AND api_key_id = $1 AND state = 'queued'`;
    return (await oneRow<{ held: number }>(db, sql, [key])).held;
  };

  it('hold no more than the policy allows, however many are requested at once, and each key has its own limit', async () => {
    const shop = await makeShop(db, 1_000_000n);
    await setPolicy(db, shop.merchantId, { keyHeldLimitMinor: 10_000n });
    const [one, other] = [await addKey(shop), await addKey(shop)];
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        codeOr(requestPayout(db, shop, 1500n, { apiKeyId: n % 2 === 0 ? one : other })),
      ),
    );
    assert.equal(answers.filter(isKind('accepted')).length, 12);
    assert.equal(answers.filter((answer) => answer === 'state_conflict').length, 108);
    assert.deepEqual([await heldBy(one), await heldBy(other)], [9000, 9000]);
    assert.deepEqual(await balanceOf(db, shop.merchantId), [982_000n, 18_000n]);
    assert.equal((await requestPayout(db, shop, 1000n, { apiKeyId: one })).kind, 'accepted', 'up to the limit itself');
    assert.equal(await codeOr(requestPayout(db, shop, 100n, { apiKeyId: one })), 'state_conflict');
    assert.equal((await requestPayout(db, shop, 50_000n)).kind, 'accepted', 'a person in a session has no such limit');
    assert.deepEqual(await checkLedger(db), []);
  });

  it('hold nothing and store nothing when they are refused, so that the same request succeeds once others are decided', async () => {
    const shop = await makeShop(db, 100_000n);
    await setPolicy(db, shop.merchantId, { keyHeldLimitMinor: 1000n });
    const apiKeyId = await addKey(shop);
    for (const end of [
      (id: Payout['id']) => release(db, shop.approver, id),
      (id: Payout['id']) => decide(db, shop.approver, id, { kind: 'reject', reason: 'not known' }),
      (id: Payout['id']) => decide(db, shop.maker, id, { kind: 'cancel' }),
    ]) {
      const { id } = await queue(db, shop, 1000n, { apiKeyId });
      const refused = { apiKeyId, idempotencyKey: randomUUID() };
      const [available] = await balanceOf(db, shop.merchantId);
      for (let n = 0; n < 2; n++) {
        assert.equal(await codeOr(requestPayout(db, shop, 1000n, refused)), 'state_conflict');
      }
      assert.equal((await balanceOf(db, shop.merchantId))[0], available);
      assert.equal(await countRows(db, 'idempotency_keys WHERE key = $1', [refused.idempotencyKey]), 0);
      await end(id);
      const accepted = await requestPayout(db, shop, 1000n, refused);
      assert.ok(accepted.kind === 'accepted');
      await decide(db, shop.maker, accepted.payments[0].id, { kind: 'cancel' });
    }
  });

  it('are refused by their limit before the lack of money, whose refusal would be stored', async () => {
    const shop = await makeShop(db, 500n);
    await setPolicy(db, shop.merchantId, { keyHeldLimitMinor: 1000n });
    const apiKeyId = await addKey(shop);
    assert.equal(await codeOr(requestPayout(db, shop, 1001n, { apiKeyId })), 'state_conflict');
    assert.equal((await requestPayout(db, shop, 1000n, { apiKeyId })).kind, 'refused');
  });

  it('are not limited unless the policy says so, and none are created where it says zero', async () => {
    const shop = await makeShop(db, 100_000n);
    const apiKeyId = await addKey(shop);
    assert.equal((await requestPayout(db, shop, 50_000n, { apiKeyId })).kind, 'accepted');
    await setPolicy(db, shop.merchantId, { approverDailyLimitMinor: 1n });
    assert.equal((await requestPayout(db, shop, 1000n, { apiKeyId })).kind, 'accepted');
    await setPolicy(db, shop.merchantId, { keyHeldLimitMinor: 0n });
    assert.equal(await codeOr(requestPayout(db, shop, 100n, { apiKeyId })), 'state_conflict');
  });
});

describe('a payout’s idempotency key', () => {
  const db = useDatabase();

  const countOf = (merchantId: MerchantId) =>
    countRows(db, "payments WHERE kind = 'payout' AND merchant_id = $1", [merchantId]);

  it('creates one payout for many requests at once', async () => {
    const shop = await makeShop(db, 100_000n);
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => codeOr(requestPayout(db, shop, 1000n, { idempotencyKey }))),
    );
    const created = answers.filter(isKind('accepted'));
    assert.equal(created.length, 1);
    const replayed = answers.filter(isKind('replayed'));
    for (const { response } of replayed) assert.deepEqual(response, created[0]?.response);
    const inFlight = answers.filter((answer) => answer === 'idempotency_key_in_flight');
    assert.equal(replayed.length + inFlight.length, 49);
    assert.equal(await countOf(shop.merchantId), 1);
    assert.equal((await getBalance(db, shop.merchantId)).heldMinor, 1000n);
  });

  it('belongs to one request: another amount under it is refused and holds nothing', async () => {
    const shop = await makeShop(db, 100_000n);
    const idempotencyKey = randomUUID();
    await requestPayout(db, shop, 1000n, { idempotencyKey });
    assert.equal(await codeOr(requestPayout(db, shop, 1001n, { idempotencyKey })), 'idempotency_key_reused');
    assert.equal(await countOf(shop.merchantId), 1);
  });

  it('belongs to one merchant: two merchants may use the same key', async () => {
    const [one, other] = [await makeShop(db, 1000n), await makeShop(db, 1000n)];
    const idempotencyKey = randomUUID();
    assert.equal((await requestPayout(db, one, 1000n, { idempotencyKey })).kind, 'accepted');
    assert.equal((await requestPayout(db, other, 1000n, { idempotencyKey })).kind, 'accepted');
  });

  it('replays a refusal for lack of money even after money came in', async () => {
    const shop = await makeShop(db, 999n);
    const idempotencyKey = randomUUID();
    const first = await requestPayout(db, shop, 1000n, { idempotencyKey });
    assert.deepEqual([first.kind, first.response.status], ['refused', 402]);
    await makeCollection(db, shop.merchantId, 'succeeded');
    const second = await requestPayout(db, shop, 1000n, { idempotencyKey, requestId: 'req_other' });
    assert.deepEqual(second, { kind: 'replayed', response: first.response });
    assert.equal(await countOf(shop.merchantId), 0);
    assert.equal((await requestPayout(db, shop, 1000n)).kind, 'accepted');
  });

  it('replays its response whatever the outcome of the payout', async () => {
    const shop = await makeShop(db, 1000n);
    const idempotencyKey = randomUUID();
    const first = await requestPayout(db, shop, 1000n, { ...SOON_OVER, idempotencyKey });
    assert.ok(first.kind === 'accepted');
    const [payout] = first.payments;
    await recordPayout(db, payout, { kind: 'approval_expired' }, payout.expiresAt);
    assert.deepEqual(await requestPayout(db, shop, 1000n, { idempotencyKey }), {
      kind: 'replayed',
      response: first.response,
    });
  });

  it('replays its response while no new work is accepted, and stores nothing for a request refused then', async () => {
    const shop = await makeShop(db, 2000n);
    const [known, fresh] = [randomUUID(), randomUUID()];
    await requestPayout(db, shop, 1000n, { idempotencyKey: known });
    const busy = { refusal: backlogFull() } as const;
    assert.equal((await requestPayout(db, shop, 1000n, { ...busy, idempotencyKey: known })).kind, 'replayed');
    assert.equal(
      await codeOr(requestPayout(db, shop, 1000n, { ...busy, idempotencyKey: fresh })),
      'service_unavailable',
    );
    assert.equal((await requestPayout(db, shop, 1000n, { idempotencyKey: fresh })).kind, 'accepted');
  });

  it('creates no second payout after its time is over while the first one is pending, and does afterwards', async () => {
    const shop = await makeShop(db, 2000n);
    const idempotencyKey = randomUUID();
    const payout = await queue(db, shop, 1000n, { ...SOON_OVER, idempotencyKey });
    await db.pool.query("UPDATE idempotency_keys SET created_at = created_at - interval '31 days'");
    const again = () => requestPayout(db, shop, 1000n, { idempotencyKey });
    assert.equal(await codeOr(again()), 'idempotency_key_reused');
    assert.equal((await getBalance(db, shop.merchantId)).heldMinor, 1000n);
    await recordPayout(db, payout, { kind: 'approval_expired' }, payout.expiresAt);
    assert.equal((await again()).kind, 'accepted');
  });
});
