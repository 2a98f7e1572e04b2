// The send of a collection: within a workflow task, and what is recorded on the row that it read.
import assert from 'node:assert/strict';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import {
  createPaymentActivities,
  type PaymentActivities,
  type PaymentActivityDeps,
} from '../../../activities/payment.ts';
import { createStatusAttestor } from '../../../activities/attestation.ts';
import type { CollectionTransitionInput } from '../../../src/domain/payments/collection-progress.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import { createPayments } from '../../../src/operations/payments/create-payments.ts';
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
    const status: StatusOutcome = { kind: 'succeeded', receipt: 'R-1', paid: { amount: '5000', currency: 'UGX' } };
    activities = createPaymentActivities({
      db,
      payments: createPayments(contextOf(db)),
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
    (await oneRow<{ state: string }>(db, 'SELECT state FROM collections WHERE id = $1', [id])).state;
  const begun = async () =>
    (await oneRow<{ count: number }>(db, 'SELECT count(send_begun_at)::int AS count FROM collections')).count;
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

  it('is recorded where the collection is still as the send read it', async () => {
    const ref = await newRef();
    answer({ kind: 'accepted' });
    const sent = await send(ref);
    assert.ok(sent.kind === 'accepted');
    const input = { ref, transition: { kind: 'prompt_accepted' } as const, attested: sent.attested };
    assert.equal((await activities.recordTransition(input)).state, 'prompted');
    assert.equal((await activities.recordTransition(input)).state, 'prompted');
  });

  it('is decided again where the collection has changed since the send read it', async () => {
    const ref = await newRef();
    answer({ kind: 'accepted' });
    const sent = await send(ref);
    assert.ok(sent.kind === 'accepted');
    const steps: CollectionTransitionInput[] = [{ kind: 'prompt_accepted' }, { kind: 'paid', operatorReceipt: 'R-2' }];
    for (const step of steps) await record(db, { id: ref.id, merchantId: merchantId.id }, step);
    // Decided on what the send read, it would be `prompted`.
    const input = { ref, transition: { kind: 'prompt_accepted' } as const, attested: sent.attested };
    assert.equal((await activities.recordTransition(input)).state, 'succeeded');
    assert.equal(await stateOf(ref), 'succeeded');
  });

  it('leaves nothing behind by which a later transition would be taken for one that changes nothing', async () => {
    const ref = await newRef();
    // Read as `initiated`, from which nothing is paid.
    await activities.loadPayment(ref);
    await record(db, { id: ref.id, merchantId: merchantId.id }, { kind: 'prompt_accepted' });
    const attested = await activities.queryStatusWithOperator(ref);
    await record(db, { id: ref.id, merchantId: merchantId.id }, { kind: 'outcome_unknown' });
    assert.equal(attested.status.kind, 'paid');
    const input = { ref, transition: { kind: 'paid', operatorReceipt: 'R-1' } as const, attested };
    assert.equal((await activities.recordTransition(input)).state, 'succeeded');
  });
});
