// When a collection expires without an outcome, and what is still recorded of it afterwards.
import assert from 'node:assert/strict';
import type { MerchantId } from '../../../src/domain/ids.ts';
import type { Collection, CollectionState } from '../../../src/domain/payments/collection.ts';
import { getCollection } from '../../../src/db/payments/collection.ts';
import { recordTransition } from '../../../src/operations/payments/record-transition.ts';
import { contextOf, makeCollection, makeMerchant, oneRow, record, TEST_CLOCKS } from '../rows.ts';
import { useDatabase } from '../use-database.ts';

const { notFoundGraceMs, promptWindowMs, reconcileForMs } = TEST_CLOCKS;
// All times of these tests are in the past: ids continue from the latest time one was created for.
const LONG_AGO = new Date(Date.now() - 2 * reconcileForMs);

describe('a collection without an outcome', () => {
  const db = useDatabase();
  let merchantId: MerchantId;

  before(async () => {
    merchantId = await makeMerchant(db);
  });

  /** A collection whose prompt deadline was long ago. */
  const makeSent = (state: CollectionState = 'initiated') =>
    makeCollection(db, merchantId, state, { promptDeadlineAt: LONG_AGO });

  /** Whether it expires from a status queried then and recorded then; both are relative to the time that decides. */
  async function expires(
    collection: Collection,
    kind: 'never_accepted' | 'undecided',
    decidesAtMs: number,
    [queriedMs, recordedMs]: readonly [number, number],
  ): Promise<boolean> {
    const transition = { kind, queriedAtMs: decidesAtMs + queriedMs } as const;
    const { state } = await record(db, collection, transition, new Date(decidesAtMs + recordedMs));
    assert.equal((await getCollection(db, merchantId, collection.id)).state, state);
    return state === 'expired';
  }

  // The query and the record, in milliseconds after the time that decides.
  const TOO_EARLY = [
    [-1, 0],
    [0, -1],
    [60_000, -1],
    [-1, 60_000],
  ] as const;

  it('expires as undecided when it was queried after its reconciliation ended, and by our own clock', async () => {
    const { id } = await makeSent();
    const prompted = await record(db, { id, merchantId }, { kind: 'prompt_accepted' }, LONG_AGO);
    await record(db, prompted, { kind: 'outcome_unknown' }, LONG_AGO);
    const neverPrompted = await makeSent('reconciling');
    for (const [collection, endsAt] of [
      [prompted, prompted.promptExpiresAt],
      [neverPrompted, neverPrompted.promptDeadlineAt],
    ] as const) {
      const decidesAtMs = Number(endsAt) + reconcileForMs;
      for (const times of TOO_EARLY) assert.ok(!(await expires(collection, 'undecided', decidesAtMs, times)));
      assert.ok(await expires(collection, 'undecided', decidesAtMs, [0, 0]));
      assert.equal((await getCollection(db, merchantId, collection.id)).failureCode, 'unknown');
    }
  });

  it('expires as never accepted when it was queried after no prompt could be on its way, and by our own clock', async () => {
    for (const state of ['initiated', 'reconciling'] as const) {
      const collection = await makeSent(state);
      const decidesAtMs = collection.promptDeadlineAt.getTime() + notFoundGraceMs;
      for (const times of TOO_EARLY) assert.ok(!(await expires(collection, 'never_accepted', decidesAtMs, times)));
      assert.ok(await expires(collection, 'never_accepted', decidesAtMs, [0, 0]));
      assert.equal((await getCollection(db, merchantId, collection.id)).failureCode, 'operator_unavailable');
    }
  });

  const EXPIRED = { kind: 'expired', failureCode: 'prompt_expired' } as const;

  /** Whether it expires by the operator's own status, queried and recorded at these times after our own clock says that it is over. */
  async function expiresByStatus(
    { id }: Collection,
    overAtMs: number,
    [queriedMs, recordedMs]: readonly [number, number],
  ): Promise<boolean> {
    const basis = { kind: 'declined', queriedAtMs: overAtMs + queriedMs } as const;
    const at = new Date(overAtMs + recordedMs);
    const input = { ref: { kind: 'collection', id, merchantId }, transition: EXPIRED, at, basis } as const;
    return (await recordTransition(contextOf(db), input)).payment.state === 'expired';
  }

  it('expires by the operator’s own status when that was queried after its prompt was over, and by our own clock', async () => {
    const { id } = await makeSent();
    const prompted = await record(db, { id, merchantId }, { kind: 'prompt_accepted' }, LONG_AGO);
    const neverPrompted = await makeSent('reconciling');
    for (const [collection, overAtMs] of [
      [prompted, Number(prompted.promptExpiresAt)],
      [neverPrompted, neverPrompted.promptDeadlineAt.getTime() + promptWindowMs],
    ] as const) {
      for (const times of TOO_EARLY) assert.ok(!(await expiresByStatus(collection, overAtMs, times)));
      assert.ok(await expiresByStatus(collection, overAtMs, [0, 0]));
    }
  });

  it('does not fail, and may still be paid, when its expired prompt is handed in as a refusal, nor expire by a refusal', async () => {
    const { id } = await makeSent();
    const prompted = await record(db, { id, merchantId }, { kind: 'prompt_accepted' }, LONG_AGO);
    const now = new Date();
    const asRefusal = { kind: 'declined', failureCode: 'prompt_expired' } as const;
    assert.equal((await record(db, prompted, asRefusal, now)).state, 'prompted');
    const asExpiry = { kind: 'expired', failureCode: 'wrong_pin' } as const;
    assert.equal((await record(db, prompted, asExpiry, now)).state, 'prompted');
    assert.equal((await record(db, prompted, EXPIRED, now)).state, 'expired');
  });

  it('does not expire as never accepted once its prompt was accepted', async () => {
    const collection = await makeSent('prompted');
    const unknown = await record(db, collection, { kind: 'outcome_unknown' });
    assert.ok(!(await expires(unknown, 'never_accepted', Date.now(), [0, 0])));
  });

  it('fails late, with an event that says so, when the operator declines it after all', async () => {
    const { id, promptDeadlineAt } = await makeSent('reconciling');
    const at = new Date(promptDeadlineAt.getTime() + reconcileForMs);
    await record(db, { id, merchantId }, { kind: 'undecided', queriedAtMs: at.getTime() }, at);
    const failed = await record(db, { id, merchantId }, { kind: 'declined', failureCode: 'wrong_pin' }, at);
    assert.deepEqual([failed.state, failed.previousState, failed.failureCode], ['failed', 'expired', 'wrong_pin']);
    const { body } = await oneRow<{ body: string }>(
      db,
      `SELECT body FROM events WHERE payment_id = $1 AND type = 'collection.failed'`,
      [id],
    );
    assert.equal((JSON.parse(body) as { data: { late?: boolean } }).data.late, true);
  });

  it('stays expired when the operator later declines what it had called expired', async () => {
    const expired = await makeCollection(db, merchantId, 'expired');
    assert.deepEqual(await record(db, expired, { kind: 'declined', failureCode: 'wrong_pin' }), expired);
  });
});
