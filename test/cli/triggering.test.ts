// Tests `malipo trigger` with a real service: triggers every type of event through the sandbox operator.
import assert from 'node:assert/strict';
import { EVENT_TYPES, type EventType } from '../../src/domain/event.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { addPerson, type TestPerson, ageSecondFactor } from '../support/people.ts';
import { approverSettings, jsonOf, startSession, settingsOf, untilPrinted, type CliSession } from './malipo-child.ts';
import { rewrite } from '../support/attestation.ts';
import { useConcurrentTests } from '../support/concurrent-tests.ts';
import { countRows } from '../db/rows.ts';

type Event = { readonly id: string; readonly type: string; readonly object_id: string; readonly body: string };
type Body = { readonly type: string; readonly data: { readonly object: { readonly id: string } } };

// The sandbox decides later than the prompt window and the send deadline, as with the demonstration's clocks.
const CLOCKS = {
  MALIPO_PROMPT_WINDOW_MS: '15000',
  MALIPO_PAYOUT_SEND_DEADLINE_MS: '15000',
  MALIPO_RECONCILE_FOR_MS: '60000',
};
/** Longer than any test takes: no test waits for the operator's decision. */
const UNDECIDED_MS = 600_000;

describe('malipo trigger', function () {
  this.timeout(240_000);
  const testEnv = useTestEnvironment({
    environment: CLOCKS,
    sandboxTimes: { undecidedMs: UNDECIDED_MS },
  });
  let maker: TestPerson;
  let approver: TestPerson;
  let cli: CliSession;
  before(async () => {
    maker = await addPerson(testEnv, testEnv.merchant.id, ['maker', 'developer']);
    approver = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
    cli = startSession(settingsOf(testEnv, maker));
  });
  afterEach(() => cli.clear());

  const assertTriggered = (type: EventType, event: Event) => {
    assert.equal(event.type, type);
    const body = JSON.parse(event.body) as Body;
    assert.deepEqual([body.type, body.data.object.id], [type, event.object_id]);
  };

  // Several at once, each at a merchant of its own, because they mostly wait: for the prompt window or the send deadline.
  const test = useConcurrentTests(5);
  // payout.expired depends on the policy and has a test of its own.
  for (const type of EVENT_TYPES.filter((each) => each !== 'payout.expired')) {
    test(`triggers ${type} and prints it`, async () => {
      const { id: merchantId } = await testEnv.addMerchant();
      const own = startSession(settingsOf(testEnv, await addPerson(testEnv, merchantId, ['maker', 'developer'])));
      const other = await addPerson(testEnv, merchantId, ['approver'], { hasSecondFactor: true });
      const triggered = await own.run(['trigger', type, '--json'], approverSettings(other));
      assert.equal(triggered.code, 0, triggered.err);
      assertTriggered(type, jsonOf(triggered) as Event);
    });
  }

  it('triggers an event by the row of the sandbox’s table that is asked for', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const own = startSession(settingsOf(testEnv, await addPerson(testEnv, merchantId, ['maker', 'developer'])));
    const triggered = await own.run(['trigger', 'collection.succeeded', '--row', '023', '--json']);
    assert.equal(triggered.code, 0, triggered.err);
    const { object } = (JSON.parse((jsonOf(triggered) as Event).body) as { data: { object: { phone: string } } }).data;
    assert.match(object.phone, /023$/);
  });

  it('funds the first payout with a collection, and prints an indented event for people', async () => {
    const shop = await testEnv.addMerchant();
    const other = await addPerson(testEnv, shop.id, ['maker']);
    const triggered = await startSession(settingsOf(testEnv, other)).run(['trigger', 'payout.queued']);
    assert.equal(triggered.code, 0, triggered.err);
    assert.match(triggered.err, /creating a collection first/);
    assert.match(triggered.out, /^payout\.queued {2}evt_\w{26} {2}of pay_\w{26}\n\{\n {2}"id": "evt_/);
  });

  it('lets an approver of several merchants decide at the one of the payout', async () => {
    const joinedFirst = await testEnv.addMerchant();
    const both = await addPerson(testEnv, joinedFirst.id, ['approver']);
    await addPerson(testEnv, testEnv.merchant.id, ['approver'], { email: both.email });
    const triggered = await cli.run(['trigger', 'payout.released', '--json'], approverSettings(both));
    assert.equal(triggered.code, 0, triggered.err);
  });

  it('verifies the second factor again before a release when that was long ago', async () => {
    assert.equal((await cli.run(['trigger', 'payout.released'], approverSettings(approver))).code, 0);
    await ageSecondFactor(testEnv, approver, '6 minutes');
    // As if the codes of this minute had not been used yet.
    await testEnv.db.pool.query('UPDATE users SET totp_last_step = 0 WHERE id = $1', [approver.id]);
    const again = await cli.run(['trigger', 'payout.released'], approverSettings(approver));
    assert.equal(again.code, 0, again.err);
  });

  it('says who must release a payout, waits for them, and leaves the payout queued when nobody does', async () => {
    const running = cli.start(['trigger', 'payout.succeeded', '--json']);
    const [, id] = await untilPrinted(
      running,
      /(pay_\w{26}) is queued\. Another person, with the role approver, must release it/,
    );
    const decided = await cli.run(['trigger', 'payout.queued'], {});
    assert.equal(decided.code, 0);
    const late = await cli.run(['trigger', 'payout.rejected', '--timeout', '1']);
    assert.equal(late.code, 5);
    assert.match(
      late.err,
      /must reject it .*payout\.rejected of pay_\w{26} did not come in time: its state is queued/s,
    );
    const stopped = await running.interrupt();
    assert.deepEqual([stopped.code, stopped.out], [130, '']);
    const { rows } = await testEnv.db.pool.query('SELECT state FROM payments WHERE id = $1', [id]);
    assert.deepEqual(rows, [{ state: 'queued' }]);
  });

  it('does not let the maker release, even when the settings name them as approver', async () => {
    const both = await addPerson(testEnv, testEnv.merchant.id, ['owner']);
    const own = startSession(settingsOf(testEnv, both));
    const refused = await own.run(['trigger', 'payout.released'], approverSettings(both));
    assert.equal(refused.code, 1);
    assert.match(refused.err, /approval_self/);
  });

  it('waits for payout.expired when the policy is short, and cancels the payout when it is long', async () => {
    const countQueued = () => countRows(testEnv.db, "payments WHERE kind = 'payout' AND state = 'queued'");
    const before = await countQueued();
    const long = await cli.run(['trigger', 'payout.expired', '--timeout', '30']);
    assert.equal(long.code, 1);
    assert.match(long.err, /would wait until .*, so it is cancelled: shorten the policy/);
    assert.equal(await countQueued(), before);
    await rewrite(
      testEnv.db,
      `INSERT INTO policies (merchant_id, payout_expires_after_ms, updated_at) VALUES ($1, 1000, now())`,
      [testEnv.merchant.id],
    );
    const short = await cli.run(['trigger', 'payout.expired', '--json']);
    assert.equal(short.code, 0, short.err);
    assertTriggered('payout.expired', jsonOf(short) as Event);
  });

  it('asks which endpoint to test when there are several, and says when there is none', async () => {
    const shop = await testEnv.addMerchant();
    const other = startSession(settingsOf(testEnv, await addPerson(testEnv, shop.id, ['developer'])));
    const added = await other.run(['endpoints', 'add', `${testEnv.receiver.url}/second`, '--json']);
    assert.equal(added.code, 0, added.err);
    const { id } = jsonOf(added) as { id: string };
    const several = await other.run(['trigger', 'endpoint.test']);
    assert.equal(several.code, 2);
    assert.match(several.err, new RegExp(`there are several endpoints: --endpoint .*${id}`));
    const one = await other.run(['trigger', 'endpoint.test', '--endpoint', id, '--json']);
    assert.equal((jsonOf(one) as Event).object_id, id);
    await testEnv.db.pool.query(
      "UPDATE endpoints SET state = 'disabled', disabled_reason = 'by_person', disabled_at = now() WHERE merchant_id = $1",
      [shop.id],
    );
    const none = await other.run(['trigger', 'endpoint.test']);
    assert.equal(none.code, 1);
    assert.match(none.err, /there is no enabled endpoint/);
  });
});
