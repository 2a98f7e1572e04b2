// The send of a collection: within a workflow task, and what is recorded on the row that it read.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { listExchanges } from '../../../src/db/payments/operator-exchange.ts';
import type { CollectionTransitionInput } from '../../../src/domain/payments/collection-progress.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import type { SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { testActivities, type TestActivities, workerDeps } from '../../support/payment-activities.ts';
import { eventually } from '../../support/test-environment.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { makeCollection, makeMerchant, oneRow, record, TEST_CLOCKS } from '../rows.ts';
import { useDatabase } from '../use-database.ts';

/** The most that wait for their operator within workflow tasks. */
const MOST = 20;

const inWorkflowTask = <Result>(work: () => Result): Result =>
  asyncLocalStorage.run({ info: { isLocal: true } } as unknown as Context, work);

describe('the send of a collection', () => {
  const db = useDatabase();
  const merchantId = useFixture(() => makeMerchant(db).then((id) => ({ id })));
  let answer: (outcome: SendOutcome) => void;
  let status: StatusOutcome;
  let operatorTimeoutMs: number;
  let activities: TestActivities;

  beforeEach(() => {
    const answered = new Promise<SendOutcome>((resolve) => (answer = resolve));
    const receipt = `R-${randomUUID()}`;
    status = { kind: 'succeeded', receipt, paid: { amount: '5000', currency: 'UGX' } };
    operatorTimeoutMs = TEST_CLOCKS.operatorTimeoutMs;
    const operators = {
      'mtn-momo': { raisePrompt: () => answered, getCollectionStatus: () => Promise.resolve(status) },
    };
    const clocks = {
      ...TEST_CLOCKS,
      get operatorTimeoutMs() {
        return operatorTimeoutMs;
      },
    };
    activities = testActivities(workerDeps(db, { operators, clocks }));
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
    for (const sent of [...waiting, ordinary]) assert.equal((await sent).kind, 'recorded');
    assert.equal((await inWorkflowTask(async () => send(await newRef()))).kind, 'recorded');
  });

  const exchangesOf = async ({ id }: PaymentRef) =>
    (await listExchanges(db, [id], 10)).map(({ kind, outcome }) => `${kind} ${outcome}`);
  const step = ({ id }: PaymentRef<'collection'>, transition: CollectionTransitionInput) =>
    record(db, { id, merchantId: merchantId.id }, transition);

  it('is recorded with its exchange by the activity that makes it, and querying it again changes nothing', async () => {
    const ref = await newRef();
    answer({ kind: 'accepted' });
    const sent = await send(ref);
    assert.ok(sent.kind === 'recorded' && sent.snapshot.state === 'prompted');
    assert.equal(await stateOf(ref), 'prompted');
    assert.deepEqual(await exchangesOf(ref), ['send accepted']);
    status = { kind: 'pending' };
    assert.equal((await activities.queryStatusWithOperator(ref)).snapshot.state, 'prompted');
    assert.deepEqual(await exchangesOf(ref), ['send accepted', 'status_query pending']);
  });

  it('is decided again where the collection changes while it is made, and its exchange is recorded nevertheless', async () => {
    const [before, ref] = [await begun(), await newRef()];
    const sending = send(ref);
    await eventually('the send', async () => (await begun()) > before);
    await step(ref, { kind: 'prompt_accepted' });
    await step(ref, { kind: 'paid', operatorReceipt: 'R-2' });
    answer({ kind: 'accepted' });
    const sent = await sending;
    // Decided on what the send read, it would be `prompted`.
    assert.ok(sent.kind === 'recorded' && sent.snapshot.state === 'succeeded');
    assert.equal(await stateOf(ref), 'succeeded');
    assert.deepEqual(await exchangesOf(ref), ['send accepted']);
  });

  /** While it works, the database records no change of state of a collection. */
  async function whileRefusing<Result>(work: () => Promise<Result>): Promise<Result> {
    await db.pool.query(`
      CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
      CREATE TRIGGER refuse_one BEFORE UPDATE ON payments FOR EACH ROW
        WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION refuse_one()`);
    return work().finally(() => db.pool.query('DROP FUNCTION refuse_one CASCADE'));
  }

  it('is made once and recorded later where the database does not record it at first', async () => {
    const ref = await newRef();
    answer({ kind: 'refused', code: 'payer_not_found', operatorCode: 'PAYER_NOT_FOUND' });
    const sending = whileRefusing(async () => {
      const sent = send(ref);
      await eventually('a try to record it', async () => (await exchangesOf(ref)).length > 0);
      return { sent };
    });
    const sent = await (await sending).sent;
    assert.ok(sent.kind === 'recorded' && sent.snapshot.state === 'failed');
    assert.deepEqual(await exchangesOf(ref), ['send refused']);
  });

  it('is not made again where the database does not record it in time: a status query decides, which is repeated until it is recorded', async () => {
    operatorTimeoutMs = 50;
    const ref = await newRef();
    answer({ kind: 'accepted' });
    await whileRefusing(async () => {
      assert.deepEqual(await send(ref), { kind: 'no_outcome' });
      assert.deepEqual(await exchangesOf(ref), ['send accepted']);
      await assert.rejects(activities.queryStatusWithOperator(ref));
    });
    assert.equal((await activities.queryStatusWithOperator(ref)).snapshot.state, 'succeeded');
    const exchanges = ['send accepted', 'status_query succeeded', 'status_query succeeded'];
    assert.deepEqual(await exchangesOf(ref), exchanges);
  });

  it('leaves nothing behind by which a later outcome would be taken for one that changes nothing', async () => {
    const ref = await newRef();
    // Read as `initiated`, from which nothing is paid.
    await activities.loadPayment(ref);
    await step(ref, { kind: 'prompt_accepted' });
    await step(ref, { kind: 'outcome_unknown' });
    const { snapshot } = await activities.queryStatusWithOperator(ref);
    assert.equal(snapshot.state, 'succeeded');
    assert.equal(await stateOf(ref), 'succeeded');
  });

  it('is followed by a status query that records how the collection ended, with its exchange', async () => {
    const ref = await newRef();
    answer({ kind: 'accepted' });
    await send(ref);
    await step(ref, { kind: 'outcome_unknown' });
    const { snapshot } = await activities.queryStatusWithOperator(ref);
    assert.equal(snapshot.state, 'succeeded');
    assert.equal(await stateOf(ref), 'succeeded');
    assert.deepEqual(await exchangesOf(ref), ['send accepted', 'status_query succeeded']);
  });

  it('is followed by a status query that records the payment and its return, one after the other', async () => {
    const ref = await newRef();
    answer({ kind: 'accepted' });
    await send(ref);
    status = { kind: 'returned', receipt: `R-${randomUUID()}`, paid: { amount: '5000', currency: 'UGX' } };
    const { snapshot } = await activities.queryStatusWithOperator(ref);
    assert.equal(snapshot.state, 'reversed');
    assert.deepEqual(await exchangesOf(ref), ['send accepted', 'status_query returned']);
  });

  it('leaves it to an ordinary activity to record that the operator gives no status', async () => {
    const ref = await newRef();
    status = { kind: 'unknown', reason: 'no answer' };
    const quick = await inWorkflowTask(() => activities.queryStatusWithOperator(ref));
    assert.deepEqual([quick.hasStatus, await stateOf(ref)], [false, 'initiated']);
    const { snapshot, hasStatus } = await activities.queryStatusWithOperator(ref);
    assert.deepEqual([hasStatus, snapshot.state, await stateOf(ref)], [false, 'reconciling', 'reconciling']);
    assert.deepEqual(await exchangesOf(ref), ['status_query unknown', 'status_query unknown']);
  });
});
