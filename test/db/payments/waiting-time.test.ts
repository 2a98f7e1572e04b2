// The live environment: a new approver and a recovered account wait, and money leaves a merchant only with two owners.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setRoles } from '../../../src/db/accounts/member.ts';
import type { Person, Role } from '../../../src/domain/accounts/member.ts';
import { newId, type ApiKeyId, type UserId } from '../../../src/domain/ids.ts';
import { createPayout } from '../../../src/operations/payments/create-payout.ts';
import { createReversal } from '../../../src/operations/payments/create-reversal.ts';
import { endQueuedPayment } from '../../../src/operations/payments/end-queued-payment.ts';
import { releasePayment, releasePayouts } from '../../../src/operations/payments/release-payment.ts';
import { contextOf, makeCollection, makeMerchant, oneRow, tamper } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { findUser } from '../../../src/db/accounts/user.ts';
import { actedBy, codeOr, makePerson, makeShop, queue, release, type Shop } from './payout-rows.ts';
import { attestAll, rewrite } from '../../support/attestation.ts';
import { withWork } from '../work-rows.ts';
import { REQUEST } from '../../domain/payments/collections.ts';

const DAY_MS = 24 * 60 * 60_000;

describe('in the live environment', () => {
  const db = useDatabase();
  before(() => tamper(db, "UPDATE deployment SET environment = 'live'"));

  const live = () => ({ ...contextOf(db), environment: 'live' }) as const;
  /** What happened to these people so far happened two days ago. */
  const waitDays = async (...people: readonly Person[]) => {
    await tamper(
      db,
      `WITH waited AS (UPDATE members SET approver_since = approver_since - interval '2 days' WHERE user_id = ANY ($1))
       UPDATE users SET recovered_at = recovered_at - interval '2 days' WHERE id = ANY ($1)`,
      [people.map(({ userId }) => userId)],
    );
    await attestAll(db);
  };
  const secure = ({ userId }: Person) =>
    rewrite(db, "UPDATE users SET totp_secret_sealed = 'sealed' WHERE id = $1", [userId]);
  const recover = ({ userId }: Person) =>
    rewrite(db, 'UPDATE users SET recovered_at = clock_timestamp() WHERE id = $1', [userId]);

  type LiveShop = Shop & { readonly owners: readonly [Person, Person] };

  /** With two owners, and people who have waited. */
  async function openShop(): Promise<LiveShop> {
    const merchantId = await makeMerchant(db);
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 100_000n });
    const add = (role: Role) => makePerson(db, merchantId, [role]);
    const owners = [await add('owner'), await add('owner')] as const;
    const [maker, approver, otherApprover] = [await add('maker'), await add('approver'), await add('approver')];
    for (const owner of owners) await secure(owner);
    await waitDays(...owners, approver, otherApprover);
    return { merchantId, owners, maker, approver, otherApprover };
  }

  const create = (shop: Shop, createdBy: UserId, apiKeyId: ApiKeyId | null = null, at = new Date()) =>
    createPayout(live(), {
      merchantId: shop.merchantId,
      merchantCurrency: 'UGX',
      createdBy,
      apiKeyId,
      idempotencyKey: randomUUID(),
      request: { ...REQUEST, amountMinor: 1000n, reference: 'S-1' },
      requestId: 'req_test',
      refusal: null,
      at,
    });
  const created = async (shop: Shop) => {
    const { response } = await create(shop, shop.maker.userId);
    assert.equal(response.status, 202, response.body);
    return JSON.parse(response.body) as { id: string };
  };
  const approve = (person: Person, id: string, at = new Date()) =>
    codeOr(releasePayment(live(), { kind: 'payout', id, by: actedBy(person), idempotencyKey: randomUUID(), at }));
  const refund = async (person: Person, { merchantId, maker }: Shop, at = new Date()) => {
    const collectionId = (await makeCollection(db, merchantId, 'succeeded')).id;
    const keyed = { idempotencyKey: randomUUID(), at };
    const requested = await codeOr(createReversal(live(), { ...keyed, by: actedBy(maker), collectionId }));
    if (typeof requested === 'string' || requested.kind !== 'accepted') return requested;
    const [{ kind, id }] = requested.payments;
    return codeOr(releasePayment(live(), { ...keyed, idempotencyKey: randomUUID(), by: actedBy(person), kind, id }));
  };
  const kindOf = (done: unknown) => (typeof done === 'string' ? done : (done as { kind: string }).kind);
  const refusedByHand = (sql: string, values: unknown[], says = /moves no money yet/) =>
    assert.rejects(db.pool.query(sql, values), says);

  it('somebody who has become an approver or owner releases and refunds nothing for 24 hours', async () => {
    const shop = await openShop();
    const { merchantId } = shop;
    for (const role of ['approver', 'owner'] as const) {
      const person = await makePerson(db, merchantId, [role]);
      const { id } = await created(shop);
      const soon = new Date(Date.now() + DAY_MS - 60_000);
      for (const at of [new Date(), soon]) {
        assert.equal(await approve(person, id, at), 'permission_denied');
        assert.equal(await refund(person, shop, at), 'permission_denied');
      }
      const many = { by: actedBy(person), idempotencyKey: randomUUID(), payoutIds: [id], at: new Date() };
      assert.equal(await codeOr(releasePayouts(live(), many)), 'permission_denied');
      await waitDays(person);
      assert.equal(kindOf(await approve(person, id)), 'accepted');
      assert.equal(kindOf(await refund(person, shop)), 'accepted');
    }
  });

  it('the database refuses their approval and refund too, and one that is dated ahead', async () => {
    const shop = await openShop();
    const { merchantId } = shop;
    const person = await makePerson(db, merchantId, ['approver']);
    const { id } = await created(shop);
    const values = [id, person.userId, merchantId, new Date(Date.now() + 2 * DAY_MS)];
    await refusedByHand(APPROVAL, values);
    const collection = await makeCollection(db, merchantId, 'succeeded');
    await refusedByHand(REVERSAL, [newId('rev'), merchantId, collection.id, person.userId]);
    const refundId = newId('rev');
    await db.pool.query(REVERSAL, [refundId, merchantId, collection.id, shop.maker.userId]);
    await refusedByHand(REFUND_APPROVAL, [refundId, person.userId, merchantId, new Date()]);
    await rewrite(db, "UPDATE members SET approver_since = now() - interval '9 days' WHERE user_id = $1", [
      person.userId,
    ]);
    await refusedByHand(APPROVAL, values);
  });

  it('the waiting time lasts through a change of roles, and begins again when the role is gained again', async () => {
    const shop = await openShop();
    const { merchantId, approver } = shop;
    const become = (...roles: Role[]) => db.withTransaction((tx) => setRoles(tx, merchantId, approver.userId, roles));
    const { id } = await created(shop);
    await become('owner');
    assert.equal(kindOf(await approve(approver, id)), 'accepted');
    await become('viewer');
    await become('approver');
    assert.equal(await approve(approver, (await created(shop)).id), 'permission_denied');
    await waitDays(approver);
    await rewrite(db, 'UPDATE members SET removed_at = now() WHERE user_id = $1', [approver.userId]);
    await rewrite(db, 'UPDATE members SET removed_at = NULL WHERE user_id = $1', [approver.userId]);
    assert.equal(await approve(approver, (await created(shop)).id), 'permission_denied');
  });

  it('a recovered account releases, refunds and creates nothing for 24 hours, and may still reject', async () => {
    const shop = await openShop();
    const { approver, maker } = shop;
    const { id } = await created(shop);
    await recover(approver);
    await recover(maker);
    assert.equal(await approve(approver, id), 'permission_denied');
    assert.equal(await refund(approver, shop), 'permission_denied');
    assert.equal(await codeOr(create(shop, maker.userId)), 'permission_denied');
    await refusedByHand(APPROVAL, [id, approver.userId, shop.merchantId, new Date()]);
    await refusedByHand(COPY_OF_PAYOUT, [id, shop.merchantId, { id: newId('pay'), idempotency_key: 'by hand' }]);
    const decision = { kind: 'reject', reason: 'not known' } as const;
    const input = { kind: 'payout', id, by: actedBy(approver), decision, at: new Date() } as const;
    assert.equal((await endQueuedPayment(live(), input)).state, 'rejected');
    await waitDays(approver, maker);
    const inNewSession = { ...approver, recoveredAt: (await findUser(db, approver.userId))!.recoveredAt };
    assert.equal(kindOf(await approve(inNewSession, (await created(shop)).id)), 'accepted');
  });

  it('an approval from before the recovery of its approver’s account counts no sooner than the account moves money again', async () => {
    const shop = await openShop();
    const { merchantId, approver, otherApprover } = shop;
    await rewrite(
      db,
      'INSERT INTO policies (merchant_id, two_approvers_above_minor, updated_at) VALUES ($1, 0, now())',
      [merchantId],
    );
    const { id } = await created(shop);
    const stateAfter = async (person: Person) => {
      const done = await releasePayment(live(), {
        ...{ kind: 'payout', id, by: actedBy(person), idempotencyKey: randomUUID(), at: new Date() },
      });
      return (JSON.parse(done.response.body) as { state: string }).state;
    };
    assert.equal(await stateAfter(approver), 'queued');
    await recover(approver);
    assert.equal(await stateAfter(otherApprover), 'queued');
    await waitDays(approver);
    assert.equal(await stateAfter(otherApprover), 'released');
  });

  it('a key of a recovered account creates payouts if it is from before the recovery, and otherwise waits too', async () => {
    const shop = await openShop();
    const { merchantId, maker } = shop;
    const addKey = async () => {
      const id = newId('key');
      await rewrite(
        db,
        `INSERT INTO api_keys (id, merchant_id, name, environment, hint, key_sha256, scopes, created_by, created_at,
                               expires_at)
         VALUES ($1, $2, 'Server', 'live', 'abcd', sha256(convert_to($1, 'UTF8')), '{payouts:write}', $3, clock_timestamp(),
                 now() + interval '90 days')`,
        [id, merchantId, maker.userId],
      );
      return id;
    };
    const before = await addKey();
    await recover(maker);
    const after = await addKey();
    assert.equal((await create(shop, maker.userId, before)).kind, 'accepted');
    assert.equal(await codeOr(create(shop, maker.userId, after)), 'insufficient_scope');
    const aged = await addKey();
    await tamper(db, "UPDATE api_keys SET created_at = created_at - interval '9 days' WHERE id = $1", [aged]);
    assert.equal(await codeOr(create(shop, maker.userId, aged)), 'insufficient_scope', 'made older by hand');
    const sound = await created({ ...shop, maker: shop.owners[0] });
    await refusedByHand(
      COPY_OF_PAYOUT,
      [sound.id, merchantId, { id: newId('pay'), created_by: maker.userId, api_key_id: after, idempotency_key: 'x' }],
      /a key of a recovered account creates no payouts yet/,
    );
    await waitDays(maker);
    assert.equal((await create(shop, maker.userId, after)).kind, 'accepted');
  });

  it('nothing is paid out or refunded while fewer than two owners have a second factor, and collections come in', async () => {
    const shop = await openShop();
    const { merchantId, owners, approver } = shop;
    const queued = await created(shop);
    await db.pool.query(APPROVAL, [queued.id, shop.otherApprover.userId, merchantId, new Date()]);
    const leave = () => rewrite(db, 'UPDATE members SET removed_at = now() WHERE user_id = $1', [owners[1].userId]);
    await leave();
    assert.equal(await codeOr(create(shop, shop.maker.userId)), 'state_conflict');
    assert.equal(await approve(approver, queued.id), 'state_conflict');
    assert.equal(await refund(approver, shop), 'state_conflict');
    assert.equal((await makeCollection(db, merchantId, 'succeeded')).state, 'succeeded');
    await refusedByHand(RELEASE, [queued.id], /needs two owners with a second factor/);
    const collection = await makeCollection(db, merchantId, 'succeeded');
    await refusedByHand(REVERSAL, [newId('rev'), merchantId, collection.id, approver.userId], /needs two owners/);
    const third = await makePerson(db, merchantId, ['owner']);
    assert.equal(await approve(approver, queued.id), 'state_conflict', 'without a second factor');
    await secure(third);
    assert.equal(kindOf(await approve(approver, queued.id)), 'accepted');
  });

  it('the database takes no payout and releases no refund then either, and counts no owner without a second factor', async () => {
    const { merchantId, owners, maker, approver, ...shop } = await openShop();
    const { id } = await created({ merchantId, maker, approver, ...shop });
    const collection = await makeCollection(db, merchantId, 'succeeded');
    const refundId = newId('rev');
    await db.pool.query(REVERSAL, [refundId, merchantId, collection.id, maker.userId]);
    await db.pool.query(REFUND_APPROVAL, [refundId, approver.userId, merchantId, new Date()]);
    await db.pool.query(APPROVAL, [id, approver.userId, merchantId, new Date()]);
    await rewrite(db, 'UPDATE members SET removed_at = now() WHERE user_id = $1', [owners[1].userId]);
    await makePerson(db, merchantId, ['owner']);
    const twoOwners = /needs two owners with a second factor/;
    const copy = { id: newId('pay'), idempotency_key: 'by hand' };
    await refusedByHand(COPY_OF_PAYOUT, [id, merchantId, copy], twoOwners);
    await refusedByHand(RELEASE, [id], twoOwners);
    await refusedByHand(REFUND_RELEASE, [refundId], twoOwners);
  });
});

describe('in the test environment', () => {
  const db = useDatabase();

  it('nobody waits, unless the policy of the merchant says so', async () => {
    const merchantId = await makeMerchant(db);
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 100_000n });
    const [maker, approver] = [
      await makePerson(db, merchantId, ['maker']),
      await makePerson(db, merchantId, ['approver']),
    ];
    const shop = { merchantId, maker, approver, otherApprover: approver };
    const [first, second] = [await queue(db, shop, 1000n), await queue(db, shop, 1000n)];
    assert.equal((await release(db, approver, first.id)).kind, 'accepted');
    await rewrite(db, 'INSERT INTO policies (merchant_id, approver_wait_ms, updated_at) VALUES ($1, 3600000, now())', [
      merchantId,
    ]);
    assert.equal(await codeOr(release(db, approver, second.id)), 'permission_denied');
    await assert.rejects(db.pool.query(APPROVAL, [second.id, approver.userId, merchantId, new Date()]), /no money yet/);
    await tamper(db, "UPDATE members SET approver_since = approver_since - interval '2 hours' WHERE user_id = $1", [
      approver.userId,
    ]);
    await attestAll(db);
    assert.equal((await release(db, approver, second.id)).kind, 'accepted');
    const row = await oneRow<{ since: Date | null }>(
      db,
      'SELECT approver_since AS since FROM members WHERE user_id = $1',
      [maker.userId],
    );
    assert.equal(row.since, null, 'a maker is no approver');
  });
});

describe('in a database of which nobody recorded the environment', () => {
  const db = useDatabase();

  it('a new approver waits as in the live one', async () => {
    const shop = await makeShop(db, 10_000n);
    const { id } = await queue(db, shop, 1000n);
    const approval = () => db.pool.query(APPROVAL, [id, shop.approver.userId, shop.merchantId, new Date()]);
    await tamper(db, 'DELETE FROM deployment');
    await assert.rejects(approval(), /moves no money yet/);
    await tamper(db, "INSERT INTO deployment (environment, stamped_at) VALUES ('test', now())");
    assert.equal((await approval()).rowCount, 1);
  });
});

const APPROVAL = `INSERT INTO approvals (payment_id, user_id, merchant_id, approved_at, attestation)
  VALUES ($1, $2, $3, $4, repeat('a', 43))`;
const REVERSAL =
  withWork(`INSERT INTO payments (id, kind, merchant_id, collection_id, state, operator_reference, created_by,
    approvals_required, created_at, updated_at, expires_at, request_attestation, amount_minor, currency, operator, phone, reference)
  SELECT $1, 'reversal', $2, id, 'queued', gen_random_uuid(), $4, 1, now(), now(), now() + interval '1 day', repeat('a', 43),
    amount_minor, currency, operator, phone, reference
  FROM payments WHERE id = $3`);
const REFUND_APPROVAL = `INSERT INTO approvals (payment_id, user_id, merchant_id, approved_at, attestation)
  VALUES ($1, $2, $3, $4, repeat('a', 43))`;
const REFUND_RELEASE = `UPDATE payments SET state = 'released', previous_state = 'queued', version = 1, send_deadline_at = now(),
  release_attestation = repeat('a', 43) WHERE id = $1`;
const COPY_OF_PAYOUT = withWork(`INSERT INTO payments SELECT (jsonb_populate_record(p, $3)).* FROM payments p
  WHERE id = $1 AND merchant_id = $2`);
const RELEASE = `UPDATE payments SET state = 'released', previous_state = 'queued', version = 1, send_deadline_at = now(),
  approvals_required = 1, release_attestation = repeat('a', 43) WHERE id = $1`;
