// Money that payouts hold: never more than there is, once per idempotency key, whoever asks at the same time.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/db/database.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import type { CreatedPayout } from '../../../src/operations/payments/create-payout.ts';
import { checkLedger } from '../../../src/queries/payments/check-ledger.ts';
import { getBalance } from '../../../src/queries/payments/get-balance.ts';
import { getPayout } from '../../../src/queries/payments/get-payout.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import { ask, codeOr, makeShop, queue, recordPayout, SOON_OVER } from './payout-rows.ts';
import { makeCollection, makeEndpoint, oneRow } from '../rows.ts';

type Answered = Exclude<Awaited<ReturnType<typeof ask>>, never>;

const isKind =
  (kind: CreatedPayout['kind']) =>
  (answered: unknown): answered is Answered =>
    typeof answered === 'object' && answered !== null && 'kind' in answered && answered.kind === kind;

describe('payouts that are asked for at once', () => {
  let database: TestDatabase;
  let db: Database;

  before(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  after(() => database.drop());

  const balance = async (merchantId: MerchantId) => {
    const { availableMinor, heldMinor } = await getBalance(db, merchantId);
    return [availableMinor, heldMinor];
  };
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
  const eventsOf = async (merchantId: MerchantId) =>
    (
      await oneRow<{ count: number }>(
        db,
        `SELECT count(*)::int AS count FROM events WHERE merchant_id = $1 AND type LIKE 'payout.%'`,
        [merchantId],
      )
    ).count;

  it('are held as far as the money goes, and the others are told that it does not', async () => {
    const shop = await makeShop(db, 50_000n);
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(db, shop, 1000n)));
    assert.equal(answers.filter(isKind('created')).length, 50);
    const refused = answers.filter(isKind('refused'));
    assert.equal(refused.length, 150);
    for (const { answer } of refused) {
      assert.equal(answer.status, 402);
      assert.match(answer.body, /"code":"balance_insufficient".*"request_id":"req_test"/);
    }
    assert.deepEqual(await balance(shop.merchantId), [0n, 50_000n]);
    assert.equal(await heldByQueued(shop.merchantId), 50_000n);
    assert.equal(await eventsOf(shop.merchantId), 50);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('in different amounts take no more than there is, and none is refused that would still fit', async () => {
    const shop = await makeShop(db, 60_000n);
    const amounts = Array.from({ length: 200 }, (_, index) => BigInt(100 + ((index * 7919) % 1900)));
    const answers = await Promise.all(amounts.map((amountMinor) => ask(db, shop, amountMinor)));
    const [available, held] = await balance(shop.merchantId);
    assert.ok(available! >= 0n, `${available}`);
    assert.equal(available! + held!, 60_000n);
    assert.equal(held, await heldByQueued(shop.merchantId));
    const refused = amounts.filter((_, index) => answers[index]?.kind === 'refused');
    assert.ok(refused.length > 0 && refused.length < amounts.length);
    for (const amount of refused) assert.ok(amount > available!, `${amount} of ${available}`);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('of two merchants do not take from each other', async () => {
    const rich = await makeShop(db, 20_000n);
    const poor = await makeShop(db, 0n);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => ask(db, index % 2 === 0 ? rich : poor, 1000n)),
    );
    assert.deepEqual(await balance(rich.merchantId), [0n, 20_000n]);
    assert.deepEqual(await balance(poor.merchantId), [0n, 0n]);
    assert.equal(answers.filter(isKind('created')).length, 20);
  });

  it('and collections that are paid meanwhile leave the sum of both', async () => {
    const shop = await makeShop(db, 10_000n);
    const paying = Array.from({ length: 20 }, () => makeCollection(db, shop.merchantId, 'succeeded'));
    const query = Array.from({ length: 60 }, () => ask(db, shop, 1000n));
    const [answers] = await Promise.all([Promise.all(query), Promise.all(paying)]);
    const created = BigInt(answers.filter(isKind('created')).length);
    assert.ok(created >= 10n);
    assert.deepEqual(await balance(shop.merchantId), [110_000n - created * 1000n, created * 1000n]);
    assert.deepEqual(await checkLedger(db), []);
  });

  it('take the last unit, and not one more', async () => {
    const shop = await makeShop(db, 1000n);
    assert.equal((await ask(db, shop, 1001n)).kind, 'refused');
    assert.equal((await ask(db, shop, 1000n)).kind, 'created');
    assert.equal((await ask(db, shop, 100n)).kind, 'refused');
    assert.deepEqual(await balance(shop.merchantId), [0n, 1000n]);
  });

  it('are kept as they were asked for, and told to the merchant’s endpoint', async () => {
    const shop = await makeShop(db, 1000n);
    await makeEndpoint(db, shop.merchantId);
    const payout = await queue(db, shop, 1000n);
    assert.deepEqual(await getPayout(db, shop.merchantId, payout.id), payout);
    const told = await oneRow<{ type: string; state: string }>(
      db,
      `SELECT type, deliveries.state FROM deliveries JOIN events ON events.id = event_id WHERE payout_id = $1`,
      [payout.id],
    );
    assert.deepEqual(told, { type: 'payout.queued', state: 'pending' });
  });
});

describe('a payout’s idempotency key', () => {
  let database: TestDatabase;
  let db: Database;

  before(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  after(() => database.drop());

  const countOf = async (merchantId: MerchantId) =>
    (
      await oneRow<{ count: number }>(db, 'SELECT count(*)::int AS count FROM payouts WHERE merchant_id = $1', [
        merchantId,
      ])
    ).count;

  it('makes one payout of many calls at once', async () => {
    const shop = await makeShop(db, 100_000n);
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => codeOr(ask(db, shop, 1000n, { idempotencyKey }))),
    );
    const created = answers.filter(isKind('created'));
    assert.equal(created.length, 1);
    const replayed = answers.filter(isKind('replayed'));
    for (const { answer } of replayed) assert.deepEqual(answer, created[0]?.answer);
    const inFlight = answers.filter((answer) => answer === 'idempotency_key_in_flight');
    assert.equal(replayed.length + inFlight.length, 49);
    assert.equal(await countOf(shop.merchantId), 1);
    assert.equal((await getBalance(db, shop.merchantId)).heldMinor, 1000n);
  });

  it('is for one request: another amount under it is refused, and takes nothing', async () => {
    const shop = await makeShop(db, 100_000n);
    const idempotencyKey = randomUUID();
    await ask(db, shop, 1000n, { idempotencyKey });
    assert.equal(await codeOr(ask(db, shop, 1001n, { idempotencyKey })), 'idempotency_key_reused');
    assert.equal(await countOf(shop.merchantId), 1);
  });

  it('is the merchant’s own: two merchants may use the same', async () => {
    const [one, other] = [await makeShop(db, 1000n), await makeShop(db, 1000n)];
    const idempotencyKey = randomUUID();
    assert.equal((await ask(db, one, 1000n, { idempotencyKey })).kind, 'created');
    assert.equal((await ask(db, other, 1000n, { idempotencyKey })).kind, 'created');
  });

  it('keeps the answer that there was too little, though money came since', async () => {
    const shop = await makeShop(db, 999n);
    const idempotencyKey = randomUUID();
    const first = await ask(db, shop, 1000n, { idempotencyKey });
    assert.deepEqual([first.kind, first.answer.status], ['refused', 402]);
    await makeCollection(db, shop.merchantId, 'succeeded');
    const second = await ask(db, shop, 1000n, { idempotencyKey, requestId: 'req_other' });
    assert.deepEqual(second, { kind: 'replayed', answer: first.answer });
    assert.equal(await countOf(shop.merchantId), 0);
    assert.equal((await ask(db, shop, 1000n)).kind, 'created');
  });

  it('keeps its answer whatever became of the payout', async () => {
    const shop = await makeShop(db, 1000n);
    const idempotencyKey = randomUUID();
    const first = await ask(db, shop, 1000n, { ...SOON_OVER, idempotencyKey });
    assert.ok(first.kind === 'created');
    await recordPayout(db, first.payout, { kind: 'approval_expired' }, first.payout.expiresAt);
    assert.deepEqual(await ask(db, shop, 1000n, { idempotencyKey }), { kind: 'replayed', answer: first.answer });
  });

  it('is answered while no work is taken on, and kept for nothing that was turned away then', async () => {
    const shop = await makeShop(db, 2000n);
    const [known, fresh] = [randomUUID(), randomUUID()];
    await ask(db, shop, 1000n, { idempotencyKey: known });
    const busy = { isAcceptingWork: false } as const;
    assert.equal((await ask(db, shop, 1000n, { ...busy, idempotencyKey: known })).kind, 'replayed');
    assert.equal(await codeOr(ask(db, shop, 1000n, { ...busy, idempotencyKey: fresh })), 'service_unavailable');
    assert.equal((await ask(db, shop, 1000n, { idempotencyKey: fresh })).kind, 'created');
  });

  it('that is forgotten serves no second payout while the first one is open, and does afterwards', async () => {
    const shop = await makeShop(db, 2000n);
    const idempotencyKey = randomUUID();
    const payout = await queue(db, shop, 1000n, { ...SOON_OVER, idempotencyKey });
    await db.pool.query("UPDATE idempotency_keys SET created_at = created_at - interval '31 days'");
    const again = () => ask(db, shop, 1000n, { idempotencyKey });
    assert.equal(await codeOr(again()), 'idempotency_key_reused');
    assert.equal((await getBalance(db, shop.merchantId)).heldMinor, 1000n);
    await recordPayout(db, payout, { kind: 'approval_expired' }, payout.expiresAt);
    assert.equal((await again()).kind, 'created');
  });
});
