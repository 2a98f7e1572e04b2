// Every operation on payments, checkouts and the ledger: who may call it, and a call that succeeds.
import { randomUUID } from 'node:crypto';
import { insertReversal } from '../../../src/db/payments/reversal.ts';
import { newId, type CollectionId, type UserId } from '../../../src/domain/ids.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import { queue } from '../../db/payments/payout-rows.ts';
import { queueReversal } from '../../db/payments/refund-rows.ts';
import { makeCheckout } from '../../db/payments/checkouts.ts';
import { makeCollection } from '../../db/rows.ts';
import { collectionFields } from '../../support/api.ts';
import type { TestEnvironment } from '../../support/test-environment.ts';
import type { Shop } from '../tenants.ts';
import { about, ANY, listOf, NOTHING, type Operations, RELEASES, type SampleContext } from '../operation.ts';

export const PAYMENT_OPERATIONS: Operations = {
  listConsoleCollections: { roles: ANY, queryIds: { api_key_id: 'key', checkout_id: 'chk' }, sample: NOTHING },
  getConsoleCollectionCount: { roles: ANY, queryIds: { api_key_id: 'key', checkout_id: 'chk' }, sample: NOTHING },
  listConsolePayouts: { roles: ANY, queryIds: { api_key_id: 'key' }, sample: NOTHING },
  getConsolePayoutCount: { roles: ANY, queryIds: { api_key_id: 'key' }, sample: NOTHING },
  getConsoleCollection: {
    roles: ANY,
    pathId: 'col',
    sample: async ({ testEnv, shop }) => ({ id: await addSucceededCollection(testEnv, shop) }),
  },
  getConsolePayout: {
    roles: ANY,
    pathId: 'pay',
    sample: async ({ testEnv, shop }) => ({ id: (await queue(testEnv.db, shop, 1000n)).id }),
  },
  checkPayouts: {
    roles: ['owner', 'maker'],
    sample: () => ({ json: { rows: [{ idempotency_keys: [randomUUID()], payout: collectionFields() }] } }),
  },
  releasePayout: {
    roles: RELEASES,
    pathId: 'pay',
    sample: async ({ testEnv, shop }) => ({ id: (await queue(testEnv.db, shop, 1000n)).id }),
  },
  releasePayouts: {
    roles: RELEASES,
    bodyId: { field: 'ids', refusal: 'payout_not_found' },
    sample: async ({ testEnv, shop }) => ({ json: { ids: [(await queue(testEnv.db, shop, 1000n)).id] } }),
  },
  rejectPayout: {
    roles: RELEASES,
    pathId: 'pay',
    sample: async ({ testEnv, shop }) => ({
      id: (await queue(testEnv.db, shop, 1000n)).id,
      json: { reason: 'Wrong person' },
    }),
  },
  // Open to the payout's maker, whatever their roles are now.
  cancelPayout: {
    roles: ANY,
    pathId: 'pay',
    sample: async ({ testEnv, shop, person }) => ({
      id: (await queue(testEnv.db, shop, 1000n, { createdBy: person.id })).id,
    }),
  },
  reverseCollection: {
    roles: ['owner', 'maker'],
    pathId: 'col',
    sample: async ({ testEnv, shop }) => ({ id: await addSucceededCollection(testEnv, shop) }),
  },
  getLatestReversal: about(ANY, 'col', async (context) => (await addReversal(context)).collectionId),
  listReversals: {
    roles: ANY,
    sample: async (context) => {
      await addReversal(context);
      return {};
    },
  },
  getReversal: about(ANY, 'rev', async (context) => (await addReversal(context)).id),
  releaseReversal: about(RELEASES, 'rev', async (context) => (await addReversal(context)).id),
  rejectReversal: {
    roles: RELEASES,
    pathId: 'rev',
    sample: async (context) => ({ id: (await addReversal(context)).id, json: { reason: 'Wrong one' } }),
  },
  // Open to the refund's maker, whatever their roles are now.
  cancelReversal: about(ANY, 'rev', async (context) => (await addReversal(context, context.person.id)).id),
  createCheckout: { roles: ['owner', 'maker'], sample: () => ({ json: { amount: 5000, reference: 'INV-1' } }) },
  listCheckouts: listOf(ANY, addCheckout),
  getCheckout: about(ANY, 'chk', addCheckout),
  cancelCheckout: about(['owner', 'maker'], 'chk', addCheckout),
  listLedgerEntries: {
    roles: ANY,
    queryIds: { payment_id: 'pay' },
    sample: async ({ testEnv, shop }) => {
      await queue(testEnv.db, shop, 1000n);
      return {};
    },
  },
  getOverview: { roles: ANY, sample: NOTHING },
  getTotals: { roles: ANY, sample: NOTHING },
  getStream: { roles: ANY, sample: NOTHING },
  getCollectionsCsv: { roles: ANY, queryIds: { api_key_id: 'key', checkout_id: 'chk' }, sample: NOTHING },
  getPayoutsCsv: { roles: ANY, queryIds: { api_key_id: 'key' }, sample: NOTHING },
  getLedgerCsv: { roles: ANY, queryIds: { payment_id: 'pay' }, sample: NOTHING },
  getOperators: { roles: ANY, sample: NOTHING },
  getSearchHits: { roles: ANY, sample: () => ({ query: { q: 'SAL-1' } }) },
  createCollection: { scope: 'collections:write', sample: () => ({ json: collectionFields() }) },
  listCollections: { scope: 'collections:read', sample: NOTHING },
  getCollection: {
    scope: 'collections:read',
    pathId: 'col',
    sample: async ({ testEnv, shop }) => ({ id: await addSucceededCollection(testEnv, shop) }),
  },
  createPayout: { scope: 'payouts:write', sample: () => ({ json: collectionFields() }) },
  listPayouts: { scope: 'payouts:read', sample: NOTHING },
  getPayout: {
    scope: 'payouts:read',
    pathId: 'pay',
    sample: async ({ testEnv, shop }) => ({ id: (await queue(testEnv.db, shop, 1000n)).id }),
  },
  getBalance: { scope: 'balance:read', sample: NOTHING },
};

async function addSucceededCollection({ db }: TestEnvironment, { merchantId }: Shop): Promise<CollectionId> {
  return (await makeCollection(db, merchantId, 'succeeded')).id;
}

async function addCheckout({ testEnv: { db }, shop }: SampleContext): Promise<string> {
  return (await makeCheckout(db, shop.merchantId, shop.owner.userId)).id;
}

/** A queued reversal, of this person where one is named, whatever their roles are. */
async function addReversal({ testEnv: { db }, shop }: SampleContext, createdBy?: UserId): Promise<Reversal> {
  const reversal = await queueReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
  if (createdBy === undefined) return reversal;
  const { id: collectionId } = await makeCollection(db, shop.merchantId, 'succeeded');
  const own = { ...reversal, id: newId('rev'), collectionId, operatorReference: randomUUID(), createdBy };
  await db.withTransaction((tx) => insertReversal(tx, own));
  return own;
}
