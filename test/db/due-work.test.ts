// The work poll of a dispatcher finds each kind of work that a loop would find, and nothing without work.
import assert from 'node:assert/strict';
import { recordServiceAct } from '../../src/db/accounts/audit.ts';
import { renumberRestoredChanges } from '../../src/db/state-changes.ts';
import { findDueWork } from '../../src/db/work/due-work.ts';
import type { DueWork } from '../../src/domain/due-work.ts';
import { setEndpointsFailing } from '../../src/db/webhooks/endpoint.ts';
import { insertReplay } from '../../src/db/webhooks/replay.ts';
import { newId, type EndpointId, type MerchantId } from '../../src/domain/ids.ts';
import { PAYMENT_KINDS } from '../../src/domain/payments/payment.ts';
import { linkAuditEntries } from '../../src/operations/accounts/link-audit-entries.ts';
import { makePayout, makeShop } from './payments/payout-rows.ts';
import { makeReversal } from './payments/refund-rows.ts';
import { foldAll, makeCollection, makeEndpoint, makeMember, makeMerchant, tamper } from './rows.ts';
import { useDatabasePerCase } from './use-database.ts';
import { setWork } from './work-rows.ts';

describe('the work poll', () => {
  const db = useDatabasePerCase();
  let merchantId: MerchantId;

  beforeEach(async () => {
    merchantId = await makeMerchant(db);
    await settle();
  });

  /** The names of what it finds. */
  async function found(): Promise<string[]> {
    const due = await findDueWork(db);
    return (Object.keys(due) as (keyof DueWork)[]).filter((work) => due[work]).sort();
  }

  /** Does all that is to be done of what the case has made so far. */
  async function settle(): Promise<void> {
    while ((await linkAuditEntries(db, 100)) > 0);
    await foldAll(db);
    await tamper(db, `UPDATE work SET is_started = true, due_at = now() + interval '1 day' WHERE task = 'workflow'`);
  }

  const deliveries = (set: string) => tamper(db, `UPDATE deliveries SET ${set}`);
  /** Its attempt failed, and a workflow makes the next one. */
  const retry = async () => {
    await tamper(
      db,
      `WITH retried AS (UPDATE deliveries SET state = 'retrying' RETURNING id, merchant_id)
       INSERT INTO work (id, task, kind, merchant_id, priority, is_started, due_at)
       SELECT id, 'workflow', 'delivery', merchant_id, 1, true, now() + interval '1 minute' FROM retried`,
    );
  };
  const withhold = () => deliveries(`state = 'withheld', next_attempt_at = NULL`);
  const endpointWithDelivery = async (): Promise<EndpointId> => {
    const endpointId = await makeEndpoint(db, merchantId);
    await makeCollection(db, merchantId, 'prompted');
    await settle();
    return endpointId;
  };

  it('finds nothing if nothing waits', async () => {
    assert.deepEqual(await found(), []);
    await makeEndpoint(db, merchantId);
    for (const state of ['prompted', 'succeeded', 'failed'] as const) await makeCollection(db, merchantId, state);
    await settle();
    await withhold();
    assert.deepEqual(await found(), []);
  });

  it('finds a first attempt that is owed, claimed or not', async () => {
    await endpointWithDelivery();
    assert.deepEqual(await found(), ['attempts']);
    await deliveries(`leased_until = now() + interval '1 minute'`);
    assert.deepEqual(await found(), ['attempts']);
  });

  it('finds deliveries to escalate or withhold, of failing or disabled endpoints', async () => {
    const endpointId = await endpointWithDelivery();
    await setEndpointsFailing(db, [endpointId], new Date());
    await foldAll(db);
    assert.deepEqual(await found(), ['maintenance']);
    await retry();
    assert.deepEqual(await found(), []);
    await tamper(db, `UPDATE endpoints SET state = 'disabled', disabled_reason = 'failing', disabled_at = now()`);
    assert.deepEqual(await found(), ['maintenance']);
    await withhold();
    assert.deepEqual(await found(), []);
  });

  it('finds a replay that runs', async () => {
    const replay = {
      id: newId('rpl'),
      merchantId,
      endpointId: null,
      states: ['dead_lettered'] as const,
      madeFrom: null,
    };
    const at = new Date();
    const requestedBy = await makeMember(db, merchantId, ['owner']);
    await settle();
    await db.withTransaction((tx) =>
      insertReplay(tx, {
        ...replay,
        ...{ madeBefore: at, state: 'running', total: 1, replayed: 0, skipped: 0, requestedBy, createdAt: at },
        completedAt: null,
      }),
    );
    await foldAll(db);
    assert.deepEqual(await found(), ['maintenance']);
  });

  it('finds unstarted work of each kind', async () => {
    const shop = await makeShop(db, 10_000n);
    await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
    await makePayout(db, shop, 'released');
    await endpointWithDelivery();
    await retry();
    assert.deepEqual(await found(), []);
    for (const kind of ['collection', 'payout', 'reversal'] as const) {
      await tamper(db, `UPDATE work SET is_started = false WHERE kind = '${kind}' AND task = 'workflow'`);
      assert.deepEqual(await found(), ['starts'], kind);
      await settle();
    }
    await setWork(db, 'is_started = false', `kind = 'delivery'`);
    assert.deepEqual(await found(), ['starts']);
  });

  it('finds started work of each kind whose check is due', async () => {
    const shop = await makeShop(db, 10_000n);
    await makeReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
    await makePayout(db, shop, 'released');
    await makeCollection(db, merchantId, 'prompted');
    await settle();
    assert.deepEqual(await found(), []);
    for (const kind of PAYMENT_KINDS) {
      for (const priority of [0, 1, 2]) {
        await setWork(db, `due_at = now() - interval '1 second', priority = ${priority}`, `kind = '${kind}'`);
        assert.deepEqual(await found(), ['checks'], `${kind}, ${priority}`);
        await settle();
      }
    }
  });

  it('finds a delivery whose check is due', async () => {
    await endpointWithDelivery();
    await retry();
    assert.deepEqual(await found(), []);
    await setWork(db, `due_at = now() - interval '1 second'`, `kind = 'delivery'`);
    assert.deepEqual(await found(), ['checks']);
  });

  it('leaves the status queries that are due to the workers', async () => {
    await makeCollection(db, merchantId, 'succeeded');
    await settle();
    await tamper(db, `UPDATE work SET due_at = now() - interval '1 second' WHERE kind = 'collection'`);
    assert.deepEqual(await found(), []);
  });

  it('finds audit entries without a link, and changes that are not folded', async () => {
    await makeEndpoint(db, merchantId);
    assert.deepEqual(await found(), ['totals']);
    await settle();
    const act = { action: 'endpoint.disabled', subjectId: merchantId, before: {}, after: {}, at: new Date() } as const;
    await db.withTransaction((tx) => recordServiceAct(tx, merchantId, act));
    assert.deepEqual(await found(), ['auditChains']);
    await settle();
    await makeCollection(db, merchantId, 'prompted');
    await withhold();
    await setWork(db, `is_started = true, due_at = now() + interval '1 day'`);
    assert.deepEqual(await found(), ['totals']);
    await foldAll(db);
    assert.deepEqual(await found(), []);
  });

  it('finds changes to be numbered again after a restore', async () => {
    await tamper(db, "UPDATE fold_position SET xid = '1000000000000'");
    assert.deepEqual(await found(), ['totals']);
    await renumberRestoredChanges(db, 100);
    await foldAll(db);
    assert.deepEqual(await found(), []);
  });
});
