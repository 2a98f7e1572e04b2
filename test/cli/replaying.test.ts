// Tests `malipo replay`, `events`, `deliveries` and `endpoints` with a real service.
import assert from 'node:assert/strict';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { pay, untilState } from '../support/payments.ts';
import { addPerson, type TestPerson } from '../support/people.ts';
import { jsonOf, startSession, settingsOf, type CliSession } from './malipo-child.ts';

type Page<Item> = { readonly data: readonly Item[]; readonly has_more: boolean };
type EventRow = { readonly id: string; readonly type: string; readonly object_id: string };
type Delivery = {
  readonly id: string;
  readonly state: string;
  readonly attempt_count: number;
  readonly replay_count: number;
};
type Replay = { readonly state: string; readonly total: number; readonly replayed: number; readonly skipped: number };

describe('malipo events, deliveries, replay and endpoints', function () {
  this.timeout(240_000);
  const testEnv = useTestEnvironment({ environment: { MALIPO_DELIVERY_SCHEDULE_MS: '0,50,50' } });
  let developer: TestPerson;
  let cli: CliSession;
  before(async () => {
    developer = await addPerson(testEnv, testEnv.merchant.id, ['developer']);
    cli = startSession(settingsOf(testEnv, developer));
  });
  afterEach(() => {
    testEnv.receiver.answerWith(testEnv.merchant.id, null);
    return cli.clear();
  });

  const list = async <Item>(...args: string[]) => jsonOf(await cli.run([...args, '--json'])) as Page<Item>;
  const deadLetters = async () =>
    (await list<Delivery>('deliveries', '--state', 'dead_lettered', '--limit', '100')).data;

  /** A collection whose two events are not accepted by the receiver. */
  async function payUndelivered(): Promise<{ readonly id: string }> {
    const before = (await deadLetters()).length;
    testEnv.receiver.answerWith(testEnv.merchant.id, (_received, response) => {
      response.writeHead(418, { 'x-shop': 'closed' }).end('no\u001b[31m tea \u202efor you');
    });
    const payment = await pay(testEnv, '100');
    await untilState(testEnv, payment, 'succeeded');
    await eventually('dead letters', async () => (await deadLetters()).length === before + 2, 60_000);
    testEnv.receiver.answerWith(testEnv.merchant.id, null);
    return payment;
  }

  it('lists events and deliveries, and shows one event exactly and one delivery with its responses', async () => {
    const payment = await payUndelivered();
    const events = await list<EventRow>('events', '--since', '10m', '--type', 'collection.succeeded', '--limit', '1');
    assert.deepEqual([events.data.length, events.data[0]!.object_id], [1, payment.id]);
    const event = jsonOf(await cli.run(['events', events.data[0]!.id, '--json'])) as { body: string };
    const sent = testEnv.receiver.all(testEnv.merchant.id).find((each) => each.event.id === events.data[0]!.id)!;
    assert.equal(event.body, sent.rawBody.toString());
    const table = await cli.run(['events', '--limit', '1']);
    assert.match(table.out, /^created +type +event +of\n\S+Z {2}collection\.succeeded {2}evt_\w{26} {2}col_\w{26}\n$/);
    assert.match(table.err, /there are more/);

    const [delivery] = (await list<Delivery>('deliveries', '--event', events.data[0]!.id)).data;
    assert.deepEqual([delivery!.state, delivery!.attempt_count], ['dead_lettered', 3]);
    const shown = await cli.run(['deliveries', delivery!.id]);
    assert.match(shown.out, /^dlv_.* to whe_\w{26}\ndead_lettered\n/);
    assert.match(
      shown.out,
      /\n#3 .* 418 {2}in \d+ ms\n[^]*x-shop: closed\n[^]*no\\u\{1b\}\[31m tea \\u\{202e\}for you\n$/,
    );
    const rows = await cli.run(['deliveries', '--state', 'dead_lettered']);
    assert.match(rows.out, /dead_lettered +3 +collection\.succeeded/);
    const unknown = await cli.run(['deliveries', `dlv_${'0'.repeat(26)}`]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /There is no delivery with this id.*delivery_not_found/);
    assert.deepEqual((await list('events', '--until', '2020-01-01')).data, []);
  });

  it('replays one delivery and waits for its final state', async () => {
    await payUndelivered();
    const [dead] = await deadLetters();
    const replayed = await cli.run(['replay', dead!.id, '--wait', '--json']);
    assert.equal(replayed.code, 0, replayed.err);
    const { id, state, replay_count: count } = jsonOf(replayed) as Delivery;
    assert.deepEqual([id, state, count], [dead!.id, 'delivered', 1]);
    testEnv.receiver.answerWith(testEnv.merchant.id, (_received, response) => void response.writeHead(500).end());
    const refused = await cli.run(['replay', dead!.id, '--wait']);
    assert.equal(refused.code, 1);
    assert.match(refused.out, /: dead_lettered\n$/);
    assert.match(refused.err, /it was not delivered; malipo deliveries dlv_/);
  });

  it('replays many deliveries and says how many', async () => {
    await payUndelivered();
    const dead = await deadLetters();
    assert.ok(dead.length >= 2);
    const none = await cli.run(['replay', '--state', 'withheld', '--wait', '--json']);
    assert.equal((jsonOf(none) as Replay).total, 0);
    const all = await cli.run(['replay', '--state', 'dead_lettered,withheld', '--since', '1h', '--wait', '--json']);
    assert.equal(all.code, 0, all.err);
    const { state, total, replayed, skipped } = jsonOf(all) as Replay;
    assert.deepEqual([state, total, replayed, skipped], ['completed', dead.length, dead.length, 0]);
    const isEachDelivered = async () => {
      const delivered = (await list<Delivery>('deliveries', '--state', 'delivered', '--limit', '100')).data;
      return dead.every(({ id }) => delivered.some((each) => each.id === id));
    };
    await eventually('all of them to be delivered', isEachDelivered, 60_000);
  });

  it('refuses an argument that is not an id but a step to another route, and replays nothing', async () => {
    await payUndelivered();
    const replays = async () => (await testEnv.db.pool.query('SELECT 1 FROM replays')).rows.length;
    const before = await replays();
    for (const args of [
      ['replay', '.'],
      ['replay', '..'],
      ['replay', ''],
      ['events', '.'],
      ['events', ''],
    ]) {
      const outcome = await cli.run(args);
      assert.equal(outcome.code, 2, `malipo ${args.join(' ')}: ${outcome.err}`);
      assert.match(outcome.err, /is not an id/);
    }
    assert.equal(await replays(), before);
  });

  it('skips deliveries to a disabled endpoint, and says so', async () => {
    await payUndelivered();
    const dead = await deadLetters();
    const [endpoint] = (await list<{ id: string }>('endpoints')).data;
    await testEnv.db.pool.query(
      "UPDATE endpoints SET state = 'disabled', disabled_reason = 'by_person', disabled_at = now() WHERE id = $1",
      [endpoint!.id],
    );
    const shown = await cli.run(['endpoints']);
    assert.match(shown.out, /disabled \(by_person\) +all +http:/);
    const skipped = await cli.run(['replay', '--endpoint', endpoint!.id, '--wait']);
    assert.equal(skipped.code, 0, skipped.err);
    assert.match(skipped.err, new RegExp(`^rpl_\\w{26}: ${dead.length} to send again`));
    assert.match(skipped.out, new RegExp(`is completed: 0 of ${dead.length} sent again, ${dead.length} skipped\n$`));
    const refused = await cli.run(['replay', dead[0]!.id]);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /state_conflict/);
    await testEnv.db.pool.query(
      "UPDATE endpoints SET state = 'enabled', disabled_reason = NULL, disabled_at = NULL WHERE id = $1",
      [endpoint!.id],
    );
  });

  it('adds an endpoint and shows its secret once, tests it, and says why another cannot be added', async () => {
    const added = await cli.run(['endpoints', 'add', `${testEnv.receiver.url}/own`, '--types', 'collection.failed']);
    assert.equal(added.code, 0, added.err);
    const [, id = '', secret = ''] = /^(whe_\w{26}) .*\nsecret (whsec_[\w-]{43}) /.exec(added.out) ?? [];
    testEnv.receiver.trust('own', secret);
    const tested = jsonOf(await cli.run(['endpoints', 'test', id, '--json'])) as { event_id: string };
    const received = await eventually('the test event', () => testEnv.receiver.all('own')[0]);
    assert.deepEqual([received.event.id, received.isVerified], [tested.event_id, true]);
    const listed = (await list<{ id: string; secret?: string }>('endpoints')).data;
    assert.ok(listed.some((each) => each.id === id && each.secret === undefined));
    const inner = await cli.run(['endpoints', 'add', 'https://10.0.0.1/hooks']);
    assert.equal(inner.code, 1);
    assert.match(inner.err, /its address is not one of the public internet/);
  });
});
