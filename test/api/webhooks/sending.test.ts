// What is sent to the endpoints that people keep: which events, signed how, withheld when, and sent again.
import assert from 'node:assert/strict';
import { assertError } from '../answers.ts';
import { oneRow } from '../../db/rows.ts';
import { eventually, openHouse, type House } from '../../support/test-environment.ts';
import { assertAudited } from '../../support/people.ts';
import { DELIVERIES, ENDPOINTS, EVENTS, openDesk, REPLAYS, signersOf } from './developer-session.ts';
import type { Desk, Fields, Registered } from './developer-session.ts';

describe('what people’s endpoints get', () => {
  let house: House;
  let desk: Desk;
  before(async () => {
    house = await openHouse({
      environment: {
        // Two attempts. One at a time, so that what is sent in order arrives in order.
        MALIPO_DELIVERY_SCHEDULE_MS: '0,50',
        MALIPO_DELIVERIES_PER_ENDPOINT: '1',
        // Collections are rows here, which nothing moves on.
        MALIPO_START_GRACE_MS: '3600000',
      },
    });
  });
  after(() => house.stop());
  beforeEach(async () => {
    desk = await openDesk(house);
  });

  const rotate = (endpoint: Registered, json: Fields = {}) =>
    desk.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/rotate`, { json });
  const typesAt = (endpoint: Registered) => desk.received(endpoint).map(({ event }) => event.type);
  const untilReceived = (endpoint: Registered, count: number) =>
    eventually(`${count} requests`, () => desk.received(endpoint).length === count && desk.received(endpoint));

  it('is every event, signed with the secret that was shown', async () => {
    const endpoint = await desk.register();
    await desk.happen('succeeded');
    const received = await untilReceived(endpoint, 2);
    assert.deepEqual(typesAt(endpoint), ['collection.prompted', 'collection.succeeded']);
    for (const request of received) {
      assert.ok(request.isVerified);
      assert.deepEqual(signersOf(request, [endpoint.secret]), [0]);
    }
  });

  it('is of the types that each chose', async () => {
    const all = await desk.register();
    const some = await desk.register({ event_types: ['collection.succeeded', 'collection.failed'] });
    await desk.happen('succeeded');
    await desk.happen('failed');
    await desk.untilAll(all, 3, 'delivered');
    await desk.untilAll(some, 2, 'delivered');
    assert.deepEqual(typesAt(all), ['collection.prompted', 'collection.succeeded', 'collection.failed']);
    assert.deepEqual(typesAt(some), ['collection.succeeded', 'collection.failed']);
    assert.equal((await desk.change(some, { event_types: ['collection.expired'] })).status, 200);
    await desk.happen('failed');
    await desk.untilAll(all, 4, 'delivered');
    assert.equal((await desk.list(DELIVERIES, { endpoint_id: some.id })).length, 2);
  });

  it('goes to the address that it was changed to', async () => {
    const [endpoint, elsewhere] = [await desk.register(), await desk.register()];
    await desk.change(endpoint, { url: elsewhere.shown['url'] });
    await desk.browser.call('DELETE', `${ENDPOINTS}/${elsewhere.id}`);
    await desk.happen();
    await desk.untilAll(endpoint, 1, 'delivered');
    assert.equal(desk.received(endpoint).length, 0);
    const [request] = desk.received(elsewhere);
    assert.deepEqual(signersOf(request!, [endpoint.secret]), [0]);
  });

  it('is withheld while it is disabled, and comes with a replay: all of it, in order, with the same bytes', async () => {
    const endpoint = await desk.register();
    await desk.happen();
    await desk.untilAll(endpoint, 1, 'delivered');
    await desk.change(endpoint, { state: 'disabled' });
    for (let made = 0; made < 5; made++) await desk.happen('succeeded');
    const withheld = await desk.untilAll(endpoint, 11, 'delivered', 'withheld');
    assert.equal(withheld.filter(({ state }) => state === 'withheld').length, 10);
    assert.equal(desk.received(endpoint).length, 1);
    assert.equal((await desk.list(DELIVERIES, { state: 'withheld' })).length, 10);

    const json = { endpoint_id: endpoint.id };
    const early = await replayMany(json);
    assert.deepEqual(
      [early['total'], early['skipped'], early['replayed']],
      [10, 10, 0],
      'nothing goes to a disabled one',
    );
    await desk.change(endpoint, { state: 'enabled' });
    const done = await replayMany(json);
    assert.deepEqual([done['total'], done['replayed'], done['skipped']], [10, 10, 0]);
    assert.deepEqual(
      (await desk.list<Fields>(REPLAYS)).map(({ id }) => id),
      [done['id'], early['id']],
    );
    const delivered = await desk.untilAll(endpoint, 11, 'delivered');
    const received = await untilReceived(endpoint, 11);
    assert.deepEqual(
      received.map(({ headers }) => headers['malipo-delivery-id']),
      delivered.map(({ id }) => id),
      'oldest first',
    );
    for (const [index, { event_id: eventId }] of delivered.entries()) {
      const event = await desk.browser.call('GET', `${EVENTS}/${eventId}`);
      assert.equal(received[index]!.rawBody.toString('utf8'), event.json['body']);
      assert.ok(received[index]!.isVerified);
    }
  });

  async function replayMany(json: Fields): Promise<Fields> {
    const answer = await desk.browser.call('POST', `${DELIVERIES}/replay`, { json });
    assert.equal(answer.status, 202, answer.text);
    const { id } = answer.json;
    await assertAudited(house, answer, { action: 'deliveries.replayed', subject_id: String(id) });
    return eventually('the replay to be completed', async () => {
      const { json: shown } = await desk.browser.call('GET', `${REPLAYS}/${String(id)}`);
      return shown['state'] === 'completed' && shown;
    });
  }

  it('is either sent or withheld when it happens while the endpoint is being disabled, and nothing is lost', async () => {
    const endpoint = await desk.register();
    const happened = Array.from({ length: 20 }, () => desk.happen());
    await Promise.all([...happened.slice(0, 10), desk.change(endpoint, { state: 'disabled' }), ...happened.slice(10)]);
    const settled = await desk.untilAll(endpoint, 20, 'delivered', 'withheld');
    const withheld = settled.filter(({ state }) => state === 'withheld');
    const arrived = () => new Set(desk.received(endpoint).map(({ event }) => event.id));
    for (const { state, event_id: id } of settled) if (state === 'delivered') assert.ok(arrived().has(id));
    await desk.change(endpoint, { state: 'enabled' });
    assert.equal((await replayMany({}))['replayed'], withheld.length);
    await desk.untilAll(endpoint, 20, 'delivered');
    assert.equal(arrived().size, 20);
  });

  it('is nothing any more once it is deleted: what is owed is withheld for good', async () => {
    const [endpoint, other] = [await desk.register(), await desk.register()];
    house.receiver.answerWith(endpoint.name, () => undefined);
    for (let made = 0; made < 3; made++) await desk.happen();
    await untilReceived(endpoint, 1);
    assert.equal((await desk.browser.call('DELETE', `${ENDPOINTS}/${endpoint.id}`)).status, 204);
    await desk.happen();
    await desk.untilAll(other, 4, 'delivered');
    const owed = await desk.untilAll(endpoint, 3, 'withheld');
    assertError(await desk.browser.call('POST', `${DELIVERIES}/${owed[0]!.id}/replay`), 'state_conflict');
    assertError(
      await desk.browser.call('POST', `${DELIVERIES}/replay`, { json: { endpoint_id: endpoint.id } }),
      'endpoint_not_found',
    );
    assert.deepEqual((await replayMany({}))['skipped'], 3);
  });

  describe('is signed', () => {
    const nextSigners = async (endpoint: Registered, secrets: readonly string[]) => {
      const before = desk.received(endpoint).length;
      await desk.happen();
      return signersOf((await untilReceived(endpoint, before + 1)).at(-1)!, secrets);
    };

    it('by the new secret alone after a rotation without overlap', async () => {
      const endpoint = await desk.register();
      const secrets = [endpoint.secret, String((await rotate(endpoint)).json['secret'])];
      assert.deepEqual(await nextSigners(endpoint, secrets), [1]);
    });

    it('by both while a rotation overlaps, the new one first, and then by the new one alone', async () => {
      const endpoint = await desk.register();
      const second = String((await rotate(endpoint, { keep_previous_for: 3600 })).json['secret']);
      assert.deepEqual(await nextSigners(endpoint, [endpoint.secret, second]), [1, 0]);
      await house.db.pool.query('UPDATE endpoints SET previous_secret_until = now() WHERE id = $1', [endpoint.id]);
      assert.deepEqual(await nextSigners(endpoint, [endpoint.secret, second]), [1]);
    });

    it('by the last two of three: the oldest ends with the second rotation', async () => {
      const endpoint = await desk.register();
      const secrets = [endpoint.secret];
      for (let n = 0; n < 2; n++) {
        secrets.push(String((await rotate(endpoint, { keep_previous_for: 3600 })).json['secret']));
      }
      assert.deepEqual(await nextSigners(endpoint, secrets), [2, 1]);
      secrets.push(String((await rotate(endpoint)).json['secret']));
      assert.deepEqual(await nextSigners(endpoint, secrets), [3], 'without an overlap all the others end');
    });
  });

  describe('in a test', () => {
    const test = (endpoint: Registered) => desk.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/test`);

    it('is an event of its own that shows the endpoint, whatever types it chose, and goes to no other', async () => {
      const [endpoint, other] = [await desk.register({ event_types: ['payout.queued'] }), await desk.register()];
      const answer = await test(endpoint);
      assert.equal(answer.status, 202, answer.text);
      const [request] = await untilReceived(endpoint, 1);
      const { event_id: eventId, delivery_id: deliveryId } = answer.json;
      assert.ok(request!.isVerified);
      assert.equal(request!.headers['malipo-delivery-id'], deliveryId);
      const { created_at: at, ...event } = request!.event;
      assert.ok(at);
      assert.deepEqual(event, {
        id: eventId,
        type: 'endpoint.test',
        environment: 'test',
        data: { object: await desk.show(endpoint) },
      });
      await assertAudited(house, answer, {
        action: 'endpoint.tested',
        subject_id: endpoint.id,
        after: { event_id: eventId, delivery_id: deliveryId },
      });
      const [listed] = await desk.list<Fields>(EVENTS, { type: 'endpoint.test' });
      assert.deepEqual(listed, { id: eventId, type: 'endpoint.test', created_at: at, object_id: endpoint.id });
      await desk.happen();
      await desk.untilAll(other, 1, 'delivered');
      assert.deepEqual(typesAt(other), ['collection.failed']);
    });

    it('is refused while it is disabled', async () => {
      const endpoint = await desk.register();
      await desk.change(endpoint, { state: 'disabled' });
      assertError(await test(endpoint), 'state_conflict');
      assert.deepEqual(await desk.list(EVENTS), []);
    });
  });

  describe('stops by itself', () => {
    const answering = (endpoint: Registered, status: number) => {
      house.receiver.answerWith(endpoint.name, (_request, response) => response.writeHead(status).end());
    };
    const auditOf = async ({ id }: Registered) =>
      (await desk.list<Fields>('/v1/console/audit')).find(
        ({ subject_id: subject, action }) => subject === id && action === 'endpoint.disabled',
      );

    for (const [what, status, reason] of [
      ['it answers 410', 410, 'answered_gone'],
      ['all of it failed for too long', 500, 'failing'],
    ] as const) {
      it(`when ${what}, which is shown and on record, until somebody enables it`, async () => {
        const endpoint = await desk.register();
        answering(endpoint, status);
        if (reason === 'failing') {
          const long = `now() - make_interval(secs => ${house.config.clocks.endpointFailingLimitMs / 1000})`;
          await house.db.pool.query(`UPDATE endpoints SET failing_since = ${long} WHERE id = $1`, [endpoint.id]);
        }
        await desk.happen();
        const shown = await eventually('it to be disabled', async () => {
          const now = await desk.show(endpoint);
          return now['state'] === 'disabled' && now;
        });
        assert.equal(shown['disabled_reason'], reason);
        assert.ok(shown['disabled_at']);
        const entry = await auditOf(endpoint);
        assert.deepEqual(
          [entry?.['person'], entry?.['outcome'], entry?.['before'], entry?.['after']],
          [null, 'done', { state: 'enabled' }, { state: 'disabled', disabled_reason: reason }],
        );
        await desk.happen();
        await desk.untilAll(endpoint, 2, 'withheld', 'dead_lettered');
        answering(endpoint, 200);
        await desk.change(endpoint, { state: 'enabled' });
        await replayMany({ endpoint_id: endpoint.id });
        await desk.untilAll(endpoint, 2, 'delivered');
        const healthy = await desk.show(endpoint);
        assert.deepEqual([healthy['failing_since'], healthy['disabled_reason']], [null, null]);
      });
    }
  });

  it('and never arrived is kept with every attempt, and sent again one by one', async () => {
    const endpoint = await desk.register();
    const answers = [
      { body: 'x'.repeat(20_000), headers: { 'content-length': '20000' } },
      { body: Buffer.from([0x6e, 0x6f, 0xff]), headers: { 'x-why': 'busy' } },
    ];
    house.receiver.answerWith(endpoint.name, (_request, response) => {
      const { body, headers } = answers.shift() ?? answers[0] ?? { body: '', headers: {} };
      response.writeHead(500, headers).end(body);
    });
    await desk.happen();
    const [dead] = await desk.untilAll(endpoint, 1, 'dead_lettered');
    const { json } = await desk.browser.call('GET', `${DELIVERIES}/${dead!.id}`);
    const { attempts, ...shown } = json as Fields & { attempts: Fields[] };
    assert.deepEqual(shown, dead);
    assert.deepEqual(
      attempts.map((attempt) => [attempt['number'], attempt['status_code'], attempt['error']]),
      [
        [1, 500, null],
        [2, 500, null],
      ],
    );
    assert.deepEqual(
      attempts.map((attempt) => [attempt['response_body'], attempt['response_truncated']]),
      [
        ['x'.repeat(16_384), true],
        ['no\uFFFD', false],
      ],
    );
    assert.equal((attempts[1]!['response_headers'] as Fields)['x-why'], 'busy');

    house.receiver.answerWith(endpoint.name, null);
    const answer = await desk.browser.call('POST', `${DELIVERIES}/${dead!.id}/replay`);
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.json['replay_count'], 1);
    await assertAudited(house, answer, { action: 'delivery.replayed', subject_id: dead!.id });
    const [again] = await desk.untilAll(endpoint, 1, 'delivered');
    assert.deepEqual([again!.attempt_count, again!.replay_count], [3, 1]);
    const received = desk.received(endpoint);
    assert.deepEqual(
      received.map(({ headers }) => headers['malipo-attempt']),
      ['1', '2', '3'],
    );
    for (const { rawBody } of received) assert.deepEqual(rawBody, received[0]!.rawBody);
    const event = await desk.browser.call('GET', `${EVENTS}/${dead!.event_id}`);
    assert.deepEqual(event.json['deliveries'], [again]);
    const { id } = await oneRow<{ id: string }>(house.db, 'SELECT collection_id AS id FROM events WHERE id = $1', [
      dead!.event_id,
    ]);
    assert.equal(event.json['object_id'], id);
  });

  it('is sent again after it was delivered, too, with the secret of that moment', async () => {
    const endpoint = await desk.register();
    await desk.happen();
    const [delivery] = await desk.untilAll(endpoint, 1, 'delivered');
    const secret = String((await rotate(endpoint)).json['secret']);
    await desk.browser.call('POST', `${DELIVERIES}/${delivery!.id}/replay`);
    const [first, second] = await untilReceived(endpoint, 2);
    assert.deepEqual(second!.rawBody, first!.rawBody);
    assert.deepEqual(
      [first!, second!].map((request) => signersOf(request, [endpoint.secret, secret])),
      [[0], [1]],
    );
    const [again] = await desk.untilAll(endpoint, 1, 'delivered');
    assert.equal(again!.replay_count, 1);
  });
});
