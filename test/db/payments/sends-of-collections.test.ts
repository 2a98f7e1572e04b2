// The send of a collection: within a workflow task, and what is recorded on the row that it read.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import {
  createPaymentActivities,
  type PaymentActivities,
  type PaymentActivityDeps,
} from '../../../activities/payment.ts';
import { createStatusAttestor } from '../../../activities/attestation.ts';
import { listExchanges } from '../../../src/db/payments/operator-exchange.ts';
import type { CollectionTransitionInput } from '../../../src/domain/payments/collection-progress.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import type { SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { testLog } from '../../support/engines.ts';
import { eventually } from '../../support/test-environment.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { contextOf, KEY_RING, makeCollection, makeMerchant, oneRow, record, TEST_CLOCKS } from '../rows.ts';
import { useDatabase } from '../use-database.ts';

/** The most that wait for their operator within workflow tasks. */
const MOST = 20;

const inWorkflowTask = <Result>(work: () => Result): Result =>
  asyncLocalStorage.run({ info: { isLocal: true } } as unknown as Context, work);

describe('the send of a collection', () => {
  const db = useDatabase();
  const merchantId = useFixture(() => makeMerchant(db).then((id) => ({ id })));
  let answer: (outcome: SendOutcome) => void;
  let activities: PaymentActivities;

  beforeEach(() => {
    const answered = new Promise<SendOutcome>((resolve) => (answer = resolve));
    const receipt = `R-${randomUUID()}`;
    const status: StatusOutcome = { kind: 'succeeded', receipt, paid: { amount: '5000', currency: 'UGX' } };
    activities = createPaymentActivities({
      db,
      payments: contextOf(db),
      attestor: createStatusAttestor({ environment: 'test', keyRing: KEY_RING, sealingKeys: KEY_RING, log: testLog }),
      operators: { 'mtn-momo': { raisePrompt: () => answered, getCollectionStatus: () => Promise.resolve(status) } },
      clocks: TEST_CLOCKS,
      log: testLog,
    } as unknown as PaymentActivityDeps);
  });

  async function newRef(): Promise<PaymentRef<'collection'>> {
    const { id } = await makeCollection(db, merchantId.id);
    return { kind: 'collection', id, merchantId: merchantId.id };
  }
  const stateOf = async ({ id }: PaymentRef) =>
    (await oneRow<{ state: string }>(db, 'SELECT state FROM payments WHERE id = $1', [id])).state;
  const begun = async () =>
    (
      await oneRow<{ count: number }>(
        db,
        "SELECT count(send_begun_at)::int AS count FROM payments WHERE kind = 'collection'",
      )
    ).count;
  const send = (ref: PaymentRef) => activities.sendWithOperator(ref);

  it('is refused by a workflow task while twenty others wait for their operator, and nothing is recorded of it', async () => {
    const before = await begun();
    const refs = await Promise.all(Array.from({ length: MOST + 1 }, newRef));
    const waiting = refs.slice(0, MOST).map((ref) => inWorkflowTask(() => send(ref)));
    const last = refs.at(-1)!;
    assert.deepEqual(await inWorkflowTask(() => send(last)), { kind: 'busy' });
    await eventually('the sends of the others', async () => (await begun()) === before + MOST);
    const ordinary = send(last);
    await eventually('the send by an ordinary activity', async () => (await begun()) === before + MOST + 1);
    answer({ kind: 'accepted' });
    for (const sent of [...waiting, ordinary]) assert.equal((await sent).kind, 'accepted');
    assert.equal((await inWorkflowTask(async () => send(await newRef()))).kind, 'accepted');
  });

  const exchangesOf = async ({ id }: PaymentRef) =>
    (await listExchanges(db, [id], 10)).map(({ kind, outcome }) => `${kind} ${outcome}`);
  const step = ({ id }: PaymentRef<'collection'>, transition: CollectionTransitionInput) =>
    record(db, { id, merchantId: merchantId.id }, transition);

  it('is recorded with its exchange by the activity that makes it, and recording it again changes nothing', async () => {
    const ref = await newRef();
    answer({ kind: 'accepted' });
    const sent = await send(ref);
    assert.ok(sent.kind === 'accepted');
    assert.equal(sent.recorded?.state, 'prompted');
    assert.equal(await stateOf(ref), 'prompted');
    assert.deepEqual(await exchangesOf(ref), ['send accepted']);
    const input = { ref, transition: { kind: 'prompt_accepted' } as const, attested: sent.attested };
    assert.equal((await activities.recordTransition(input)).state, 'prompted');
    assert.deepEqual(await exchangesOf(ref), ['send accepted']);
  });

  it('is decided again where the collection changes while it is made, and its exchange is recorded all the same', async () => {
    const [before, ref] = [await begun(), await newRef()];
    const sending = send(ref);
    await eventually('the send', async () => (await begun()) > before);
    await step(ref, { kind: 'prompt_accepted' });
    await step(ref, { kind: 'paid', operatorReceipt: 'R-2' });
    answer({ kind: 'accepted' });
    const sent = await sending;
    // Decided on what the send read, it would be `prompted`.
    assert.ok(sent.kind === 'accepted' && sent.recorded?.state === 'succeeded');
    assert.equal(await stateOf(ref), 'succeeded');
    assert.deepEqual(await exchangesOf(ref), ['send accepted']);
  });

  it('counts and is left to the workflow to record where the database does not take it', async () => {
    const ref = await newRef();
    answer({ kind: 'accepted' });
    await db.pool.query(`
      CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
      CREATE TRIGGER refuse_one BEFORE UPDATE ON payments FOR EACH ROW
        WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION refuse_one()`);
    const sent = await send(ref).finally(() => db.pool.query('DROP FUNCTION refuse_one CASCADE'));
    assert.ok(sent.kind === 'accepted' && sent.recorded === undefined);
    assert.deepEqual(await exchangesOf(ref), ['send accepted']);
    const input = { ref, transition: { kind: 'prompt_accepted' } as const, attested: sent.attested };
    assert.equal((await activities.recordTransition(input)).state, 'prompted');
  });

  it('leaves nothing behind by which a later outcome would be taken for one that changes nothing', async () => {
    const ref = await newRef();
    // Read as `initiated`, from which nothing is paid.
    await activities.loadPayment(ref);
    await step(ref, { kind: 'prompt_accepted' });
    const { recorded, ...attested } = await activities.queryStatusWithOperator(ref);
    assert.ok(attested.status.kind === 'paid');
    assert.equal(recorded, undefined, 'more than one step follows from it');
    await step(ref, { kind: 'outcome_unknown' });
    const input = {
      ref,
      transition: { kind: 'paid', operatorReceipt: attested.status.operatorReceipt } as const,
      attested,
    };
    assert.equal((await activities.recordTransition(input)).state, 'succeeded');
  });

  it('is followed by a status query that records how the collection ended, with its exchange', async () => {
    const ref = await newRef();
    answer({ kind: 'accepted' });
    await send(ref);
    await step(ref, { kind: 'outcome_unknown' });
    const { recorded } = await activities.queryStatusWithOperator(ref);
    assert.equal(recorded?.state, 'succeeded');
    assert.equal(await stateOf(ref), 'succeeded');
    assert.deepEqual(await exchangesOf(ref), ['send accepted', 'status_query succeeded']);
  });
});
