// Money that payouts hold: never more than the balance, and once per idempotency key, whatever is requested at the same time.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { MerchantId } from '../../../src/domain/ids.ts';
import type { CreatedPayout } from '../../../src/operations/payments/create-payout.ts';
import { checkLedger } from '../../../src/queries/payments/check-ledger.ts';
import { getBalance } from '../../../src/queries/payments/balance.ts';
import { getPayout } from '../../../src/queries/payments/payout.ts';
import { balanceOf, codeOr, makeShop, requestPayout, queue, recordPayout, SOON_OVER } from './payout-rows.ts';
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
          `SELECT coalesce(sum(amount_minor), 0) AS sum FROM payouts WHERE merchant_id = $1 AND state = 'queued'`,
          [merchantId],
        )
      ).sum,
    );
  const eventsOf = (merchantId: MerchantId) =>
    countRows(db, `events WHERE merchant_id = $1 AND type LIKE 'payout.%'`, [merchantId]);

  it('hold money as far as the balance goes, and return 402 beyond it', async () => {
    const shop = await makeShop(db, 50_000n);
    const answers = await Promise.all(Array.from({ length: 200 }, () => requestPayout(db, shop, 1000n)));
    assert.equal(answers.filter(isKind('created')).length, 50);
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
    assert.equal(answers.filter(isKind('created')).length, 20);
  });

  it('leave the right sum while collections are paid at the same time', async () => {
    const shop = await makeShop(db, 10_000n);
    const paying = Array.from({ length: 20 }, () => makeCollection(db, shop.merchantId, 'succeeded'));
    const requests = Array.from({ length: 60 }, () => requestPayout(db, shop, 1000n));
    const [answers] = await Promise.all([Promise.all(requests), Promise.all(paying)]);
    const created = BigInt(answers.filter(isKind('created')).length);
    assert.ok(created >= 10n);
    assert.deepEqual(await balanceOf(db, shop.merchantId), [110_000n - created * 1000n, created * 1000n]);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('hold the last unit of the balance, and not one more', async () => {
    const shop = await makeShop(db, 1000n);
    assert.equal((await requestPayout(db, shop, 1001n)).kind, 'refused');
    assert.equal((await requestPayout(db, shop, 1000n)).kind, 'created');
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
      `SELECT type, deliveries.state FROM deliveries JOIN events ON events.id = event_id WHERE payout_id = $1`,
      [payout.id],
    );
    assert.deepEqual(delivery, { type: 'payout.queued', state: 'pending' });
  });
});

describe('a payout’s idempotency key', () => {
  const db = useDatabase();

  const countOf = (merchantId: MerchantId) => countRows(db, 'payouts WHERE merchant_id = $1', [merchantId]);

  it('creates one payout for many requests at once', async () => {
    const shop = await makeShop(db, 100_000n);
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => codeOr(requestPayout(db, shop, 1000n, { idempotencyKey }))),
    );
    const created = answers.filter(isKind('created'));
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
    assert.equal((await requestPayout(db, one, 1000n, { idempotencyKey })).kind, 'created');
    assert.equal((await requestPayout(db, other, 1000n, { idempotencyKey })).kind, 'created');
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
    assert.equal((await requestPayout(db, shop, 1000n)).kind, 'created');
  });

  it('replays its response whatever became of the payout', async () => {
    const shop = await makeShop(db, 1000n);
    const idempotencyKey = randomUUID();
    const first = await requestPayout(db, shop, 1000n, { ...SOON_OVER, idempotencyKey });
    assert.ok(first.kind === 'created');
    await recordPayout(db, first.payout, { kind: 'approval_expired' }, first.payout.expiresAt);
    assert.deepEqual(await requestPayout(db, shop, 1000n, { idempotencyKey }), {
      kind: 'replayed',
      response: first.response,
    });
  });

  it('replays its response while no new work is accepted, and stores nothing for a request refused then', async () => {
    const shop = await makeShop(db, 2000n);
    const [known, fresh] = [randomUUID(), randomUUID()];
    await requestPayout(db, shop, 1000n, { idempotencyKey: known });
    const busy = { isAcceptingWork: false } as const;
    assert.equal((await requestPayout(db, shop, 1000n, { ...busy, idempotencyKey: known })).kind, 'replayed');
    assert.equal(
      await codeOr(requestPayout(db, shop, 1000n, { ...busy, idempotencyKey: fresh })),
      'service_unavailable',
    );
    assert.equal((await requestPayout(db, shop, 1000n, { idempotencyKey: fresh })).kind, 'created');
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
    assert.equal((await again()).kind, 'created');
  });
});
