// Transitions in any order, one after another or at once: the rows of a collection always stay consistent.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  COLLECTION_TRANSITIONS,
  isLateOutcome,
  type Collection,
  type CollectionState,
} from '../../src/domain/payments/collection.ts';
import type { CollectionTransitionInput } from '../../src/domain/payments/collection-progress.ts';
import { FAILURE_CODES, type FailureCode } from '../../src/domain/payments/failure.ts';
import type { MerchantId } from '../../src/domain/ids.ts';
import { checkLedger } from '../../src/operations/payments/check-ledger.ts';
import { getBalance } from '../../src/db/payments/ledger.ts';
import { getCollection } from '../../src/db/payments/collection.ts';
import { createTestDatabase } from '../support/engines.ts';
import { makeCollection, makeEndpoint, makeMerchant, oneRow, record, allRows } from '../db/rows.ts';
import { useDatabase } from '../db/use-database.ts';

// Our own words: no operator declines with them. A prompt that expired is not declined.
const NOT_DECLINED: readonly FailureCode[] = ['service_unavailable', 'already_returned', 'prompt_expired'];
const anyFailureCode = fc.constantFrom(...FAILURE_CODES.filter((code) => !NOT_DECLINED.includes(code)));
const anyTransition: fc.Arbitrary<CollectionTransitionInput> = fc.oneof(
  fc.constant({ kind: 'prompt_accepted' } as const),
  fc.constant({ kind: 'outcome_unknown' } as const),
  fc.constant({ kind: 'never_sent' } as const),
  fc.constantFrom('never_accepted' as const, 'undecided' as const).map((kind) => ({ kind, queriedAtMs: Date.now() })),
  fc.constant({ kind: 'returned' } as const),
  fc.record({ kind: fc.constant('paid' as const), operatorReceipt: fc.stringMatching(/^[\w.-]{1,64}$/) }),
  fc.record({ kind: fc.constant('declined' as const), failureCode: anyFailureCode }),
  fc.constant({ kind: 'expired', failureCode: 'prompt_expired' } as const),
);
const anyTransitions = fc.array(anyTransition, { maxLength: 8 });
/** An operator gives each payment a receipt of its own. */
const ofItsOwn = (input: CollectionTransitionInput, { id }: Collection): CollectionTransitionInput =>
  input.kind === 'paid' ? { ...input, operatorReceipt: `${id}/${input.operatorReceipt}` } : input;
/** Whether the row must confirm that nobody can pay any more: that it does not once the prompt is open. */
const needsDeadline = ({ kind }: CollectionTransitionInput) =>
  kind === 'never_sent' || kind === 'never_accepted' || kind === 'undecided' || kind === 'expired';
/** Past all limits of an unprompted collection, or before all of them. */
const anyDeadline = fc
  .constantFrom(-30, 1)
  .map((days) => ({ promptDeadlineAt: new Date(Date.now() + days * 86_400_000) }));
const anyAmount = fc.bigInt({ min: 1n, max: 1_000_000n });

type EventContent = { readonly type: string; readonly resource_version: number; readonly body: string };
type EventBody = {
  readonly data: {
    readonly object: { readonly state: CollectionState };
    readonly previous_state: CollectionState;
    readonly late?: boolean;
  };
};

describe('transitions of a collection', () => {
  const db = useDatabase();
  let merchantId: MerchantId;

  before(async () => {
    merchantId = await makeMerchant(db);
    await makeEndpoint(db, merchantId);
  });

  const availableMinor = async () => (await getBalance(db, merchantId)).availableMinor;
  const eventsOf = ({ id }: Collection) =>
    allRows<EventContent>(
      db,
      'SELECT type, resource_version, body FROM events WHERE payment_id = $1 ORDER BY resource_version',
      [id],
    );

  /** The states in the events, in order; fails unless they are a path through the table with one event per state. */
  async function pathOf(collection: Collection): Promise<CollectionState[]> {
    const events = await eventsOf(collection);
    const path: CollectionState[] = ['initiated'];
    for (const [index, { type, resource_version, body }] of events.entries()) {
      const { object, previous_state: previous } = (JSON.parse(body) as EventBody).data;
      assert.equal(resource_version, index + 1);
      assert.equal(type, `collection.${object.state}`);
      assert.equal(previous, path.at(-1));
      assert.ok(
        Object.values(COLLECTION_TRANSITIONS[previous]).includes(object.state),
        `${previous} > ${object.state}`,
      );
      path.push(object.state);
    }
    return path;
  }

  /** Fails unless everything holds that must hold of a collection, whatever happened to it. */
  async function assertSound(collection: Collection, balanceBefore: bigint): Promise<void> {
    const stored = await getCollection(db, merchantId, collection.id);
    const path = await pathOf(collection);
    assert.equal(stored.state, path.at(-1));
    assert.equal(stored.previousState, path.at(-2) ?? null);
    assert.equal(stored.version, path.length - 1);
    assert.equal(stored.failureCode !== null, stored.state === 'failed' || stored.state === 'expired');
    const isPaid = stored.state === 'succeeded';
    assert.equal((await availableMinor()) - balanceBefore, isPaid ? stored.amountMinor : 0n);
    const owed = await oneRow<{ count: number }>(
      db,
      `SELECT count(*)::int AS count FROM deliveries JOIN events ON events.id = event_id WHERE payment_id = $1`,
      [collection.id],
    );
    assert.equal(owed.count, stored.version, 'one delivery for each event');
    const last = (await eventsOf(collection)).at(-1);
    if (last) assert.equal((JSON.parse(last.body) as EventBody).data.late === true, isLateOutcome(stored));
  }

  it('follow the table exactly, one after another', async () => {
    await fc.assert(
      fc.asyncProperty(anyTransitions, anyAmount, anyDeadline, async (transitions, amountMinor, deadline) => {
        const balanceBefore = await availableMinor();
        const collection = await makeCollection(db, merchantId, 'initiated', { amountMinor, ...deadline });
        let isUnprompted = true;
        let state: CollectionState = 'initiated';
        let failureCode: FailureCode | null = null;
        for (const input of transitions) {
          const transition = ofItsOwn(input, collection);
          // What the operator said of an expired collection stands: it may still turn out paid only.
          const isKept: boolean = state === 'expired' && transition.kind === 'declined' && failureCode !== 'unknown';
          const isConfirmed = !needsDeadline(transition) || (isUnprompted && deadline.promptDeadlineAt < new Date());
          if (!isKept && isConfirmed) state = COLLECTION_TRANSITIONS[state][transition.kind] ?? state;
          if (state === 'prompted') isUnprompted = false;
          const recorded = await record(db, collection, transition);
          assert.equal(recorded.state, state);
          failureCode = recorded.failureCode;
        }
        await assertSound(collection, balanceBefore);
      }),
      { numRuns: 60 },
    );
  });

  it('change nothing when they are repeated', async () => {
    await fc.assert(
      fc.asyncProperty(anyTransitions, anyDeadline, async (transitions, deadline) => {
        const balanceBefore = await availableMinor();
        const collection = await makeCollection(db, merchantId, 'initiated', deadline);
        let last = collection;
        for (const input of transitions) {
          const transition = ofItsOwn(input, collection);
          last = await record(db, collection, transition);
          assert.deepEqual(await record(db, collection, transition, new Date(Date.now() + 1000)), last);
        }
        assert.deepEqual(await getCollection(db, merchantId, collection.id), last);
        await assertSound(collection, balanceBefore);
      }),
      { numRuns: 30 },
    );
  });

  it('make one path through the table and post money once when they come at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(anyTransitions, anyAmount, anyDeadline, async (transitions, amountMinor, deadline) => {
        const balanceBefore = await availableMinor();
        const collection = await makeCollection(db, merchantId, 'initiated', { amountMinor, ...deadline });
        await Promise.all(transitions.map((input) => record(db, collection, ofItsOwn(input, collection))));
        await assertSound(collection, balanceBefore);
      }),
      { numRuns: 60 },
    );
  });

  it('leave the ledger sound', async () => {
    assert.deepEqual(await checkLedger(db), []);
    const { sum } = await oneRow<{ sum: string }>(
      db,
      `SELECT coalesce(sum(amount_minor), 0) AS sum FROM payments WHERE kind = 'collection' AND state = 'succeeded'`,
    );
    assert.equal(await availableMinor(), BigInt(sum));
  });
});

describe('the largest possible collection', () => {
  it('fits into its event', async () => {
    const database = await createTestDatabase();
    const { db } = database;
    const merchantId = await makeMerchant(db);
    // A control character grows the most in JSON, and metadata values may hold it.
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`${'😀'.repeat(39)}${String.fromCharCode(97 + n)}`, '\u0001'.repeat(500)]),
    );
    const collection = await makeCollection(db, merchantId, 'initiated', {
      metadata,
      reference: '😀'.repeat(100),
      description: '😀'.repeat(120),
      amountMinor: 9_007_199_254_740_991n,
      promptDeadlineAt: new Date(Date.now() - 86_400_000),
    });
    const transitions: CollectionTransitionInput[] = [
      { kind: 'outcome_unknown' },
      { kind: 'expired', failureCode: 'prompt_expired' },
      { kind: 'paid', operatorReceipt: '42' },
    ];
    for (const transition of transitions) await record(db, collection, transition);
    const { size } = await oneRow<{ size: number }>(db, 'SELECT max(octet_length(body)) AS size FROM events');
    assert.ok(size > 60_000, `${size} bytes`);
    await database.drop();
  });
});
