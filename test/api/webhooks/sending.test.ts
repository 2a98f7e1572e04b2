// Sending to registered endpoints: events, signatures, withheld deliveries, and their replays.
import assert from 'node:assert/strict';
import { assertError } from '../responses.ts';
import { oneRow } from '../../db/rows.ts';
import { eventually } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { assertAudited } from '../../support/audit-rows.ts';
import { DELIVERIES, ENDPOINTS, EVENTS, openDeveloperSession, REPLAYS, signersOf } from './developer-session.ts';
import type { Fields, RegisteredEndpoint } from './developer-session.ts';
import { valuesOf } from '../../support/values-of.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';

const SETTINGS = {
  // Two attempts, one at a time, so that webhooks arrive in the order they are sent.
  MALIPO_DELIVERY_SCHEDULE_MS: '0,50',
  MALIPO_DELIVERIES_PER_ENDPOINT_MAX: '1',
  // The collections here are rows that no workflow processes.
  MALIPO_START_GRACE_MS: '3600000',
};

describe('a registered webhook endpoint', () => {
  const testEnv = useTestEnvironment({ environment: SETTINGS });
  const developer = useFixturePerCase(() => openDeveloperSession(testEnv));

  const rotate = (endpoint: RegisteredEndpoint, json: Fields = {}) =>
    developer.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/rotate`, { json });
  const typesAt = (endpoint: RegisteredEndpoint) => developer.received(endpoint).map(({ event }) => event.type);
  const untilReceived = (endpoint: RegisteredEndpoint, count: number) =>
    eventually(
      `${count} requests`,
      () => developer.received(endpoint).length === count && developer.received(endpoint),
    );

  it('gets every event, signed with the secret that was shown', async () => {
    const endpoint = await developer.register();
    await developer.makeEvents('succeeded');
    const received = await untilReceived(endpoint, 2);
    assert.deepEqual(typesAt(endpoint), ['collection.prompted', 'collection.succeeded']);
    for (const request of received) {
      assert.ok(request.isVerified);
      assert.deepEqual(signersOf(request, [endpoint.secret]), [0]);
    }
  });

  it('gets only the event types that it chose', async () => {
    const all = await developer.register();
    const some = await developer.register({ event_types: ['collection.succeeded', 'collection.failed'] });
    await developer.makeEvents('succeeded');
    await developer.makeEvents('failed');
    await developer.untilAll(all, 3, 'delivered');
    await developer.untilAll(some, 2, 'delivered');
    assert.deepEqual(typesAt(all), ['collection.prompted', 'collection.succeeded', 'collection.failed']);
    assert.deepEqual(typesAt(some), ['collection.succeeded', 'collection.failed']);
    assert.equal((await developer.change(some, { event_types: ['collection.expired'] })).status, 200);
    await developer.makeEvents('failed');
    await developer.untilAll(all, 4, 'delivered');
    assert.equal((await developer.list(DELIVERIES, { endpoint_id: some.id })).length, 2);
  });

  it('gets its events at the URL that it was changed to', async () => {
    const [endpoint, elsewhere] = [await developer.register(), await developer.register()];
    await developer.change(endpoint, { url: elsewhere.shown['url'] });
    await developer.browser.call('DELETE', `${ENDPOINTS}/${elsewhere.id}`);
    await developer.makeEvents();
    await developer.untilAll(endpoint, 1, 'delivered');
    assert.equal(developer.received(endpoint).length, 0);
    const [request] = developer.received(elsewhere);
    assert.deepEqual(signersOf(request!, [endpoint.secret]), [0]);
  });

  it('gets nothing while it is disabled, and everything in order and with the same bytes in a replay', async () => {
    const endpoint = await developer.register();
    await developer.makeEvents();
    await developer.untilAll(endpoint, 1, 'delivered');
    await developer.change(endpoint, { state: 'disabled' });
    for (let n = 0; n < 5; n++) await developer.makeEvents('succeeded');
    const withheld = await developer.untilAll(endpoint, 11, 'delivered', 'withheld');
    assert.equal(withheld.filter(({ state }) => state === 'withheld').length, 10);
    assert.equal(developer.received(endpoint).length, 1);
    assert.equal((await developer.list(DELIVERIES, { state: 'withheld' })).length, 10);

    const json = { endpoint_id: endpoint.id };
    const early = await replayMany(json);
    assert.deepEqual(
      [early['total'], early['skipped'], early['replayed']],
      [10, 10, 0],
      'nothing is sent to a disabled endpoint',
    );
    await developer.change(endpoint, { state: 'enabled' });
    const done = await replayMany(json);
    assert.deepEqual([done['total'], done['replayed'], done['skipped']], [10, 10, 0]);
    assert.deepEqual(valuesOf(await developer.list<Fields>(REPLAYS), 'id'), [done['id'], early['id']]);
    const delivered = await developer.untilAll(endpoint, 11, 'delivered');
    const received = await untilReceived(endpoint, 11);
    const sentIds = received.map(({ headers }) => headers['malipo-delivery-id']);
    assert.deepEqual(sentIds, valuesOf(delivered, 'id'), 'oldest first');
    for (const [index, { event_id: eventId }] of delivered.entries()) {
      const event = await developer.browser.call('GET', `${EVENTS}/${eventId}`);
      assert.equal(received[index]!.rawBody.toString('utf8'), event.json['body']);
      assert.ok(received[index]!.isVerified);
    }
  });

  async function replayMany(json: Fields): Promise<Fields> {
    const response = await developer.browser.call('POST', `${DELIVERIES}/replay`, { json });
    assert.equal(response.status, 202, response.text);
    const { id } = response.json;
    await assertAudited(testEnv, response, { action: 'deliveries.replayed', subject_id: String(id) });
    return eventually('the replay to be completed', async () => {
      const { json: shown } = await developer.browser.call('GET', `${REPLAYS}/${String(id)}`);
      return shown['state'] === 'completed' && shown;
    });
  }

  it('loses nothing while it is being disabled: each event is either sent or withheld', async () => {
    const endpoint = await developer.register();
    const events = Array.from({ length: 20 }, () => developer.makeEvents());
    await Promise.all([...events.slice(0, 10), developer.change(endpoint, { state: 'disabled' }), ...events.slice(10)]);
    const finished = await developer.untilAll(endpoint, 20, 'delivered', 'withheld');
    const withheld = finished.filter(({ state }) => state === 'withheld');
    const arrived = () => new Set(developer.received(endpoint).map(({ event }) => event.id));
    for (const { state, event_id: id } of finished) if (state === 'delivered') assert.ok(arrived().has(id));
    await developer.change(endpoint, { state: 'enabled' });
    assert.equal((await replayMany({ all: true }))['replayed'], withheld.length);
    await developer.untilAll(endpoint, 20, 'delivered');
    assert.equal(arrived().size, 20);
  });

  it('gets nothing once it is deleted, and its pending deliveries are withheld for ever', async () => {
    const [endpoint, other] = [await developer.register(), await developer.register()];
    testEnv.receiver.answerWith(endpoint.name, () => undefined);
    for (let n = 0; n < 3; n++) await developer.makeEvents();
    await untilReceived(endpoint, 1);
    assert.equal((await developer.browser.call('DELETE', `${ENDPOINTS}/${endpoint.id}`)).status, 204);
    await developer.makeEvents();
    await developer.untilAll(other, 4, 'delivered');
    const owed = await developer.untilAll(endpoint, 3, 'withheld');
    assertError(await developer.browser.call('POST', `${DELIVERIES}/${owed[0]!.id}/replay`), 'state_conflict');
    assertError(
      await developer.browser.call('POST', `${DELIVERIES}/replay`, { json: { endpoint_id: endpoint.id } }),
      'endpoint_not_found',
    );
    assert.deepEqual((await replayMany({ all: true }))['skipped'], 3);
  });

  describe('whose secret is rotated', () => {
    const nextSigners = async (endpoint: RegisteredEndpoint, secrets: readonly string[]) => {
      const before = developer.received(endpoint).length;
      await developer.makeEvents();
      return signersOf((await untilReceived(endpoint, before + 1)).at(-1)!, secrets);
    };

    it('gets signatures by the new secret alone after a rotation without overlap', async () => {
      const endpoint = await developer.register();
      const secrets = [endpoint.secret, String((await rotate(endpoint)).json['secret'])];
      assert.deepEqual(await nextSigners(endpoint, secrets), [1]);
    });

    it('gets signatures by both secrets during an overlap, the new one first, and then by the new one alone', async () => {
      const endpoint = await developer.register();
      const second = String((await rotate(endpoint, { keep_previous_for: 3600 })).json['secret']);
      assert.deepEqual(await nextSigners(endpoint, [endpoint.secret, second]), [1, 0]);
      await testEnv.db.pool.query('UPDATE endpoints SET previous_secret_until = now() WHERE id = $1', [endpoint.id]);
      assert.deepEqual(await nextSigners(endpoint, [endpoint.secret, second]), [1]);
    });

    it('gets signatures by the two latest of three secrets, because a second rotation ends the oldest', async () => {
      const endpoint = await developer.register();
      const secrets = [endpoint.secret];
      for (let n = 0; n < 2; n++) {
        secrets.push(String((await rotate(endpoint, { keep_previous_for: 3600 })).json['secret']));
      }
      assert.deepEqual(await nextSigners(endpoint, secrets), [2, 1]);
      secrets.push(String((await rotate(endpoint)).json['secret']));
      assert.deepEqual(await nextSigners(endpoint, secrets), [3], 'without an overlap all the others end');
    });
  });

  describe('that is tested', () => {
    const test = (endpoint: RegisteredEndpoint) => developer.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/test`);

    it('gets an event that shows the endpoint, whatever types it selected, and no other endpoint gets it', async () => {
      const [endpoint, other] = [
        await developer.register({ event_types: ['payout.queued'] }),
        await developer.register(),
      ];
      const response = await test(endpoint);
      assert.equal(response.status, 202, response.text);
      const [request] = await untilReceived(endpoint, 1);
      const { event_id: eventId, delivery_id: deliveryId } = response.json;
      assert.ok(request!.isVerified);
      assert.equal(request!.headers['malipo-delivery-id'], deliveryId);
      const { created_at: at, ...event } = request!.event;
      assert.ok(at);
      assert.deepEqual(event, {
        id: eventId,
        type: 'endpoint.test',
        environment: 'test',
        data: { object: await developer.show(endpoint) },
      });
      await assertAudited(testEnv, response, {
        action: 'endpoint.tested',
        subject_id: endpoint.id,
        after: { event_id: eventId, delivery_id: deliveryId },
      });
      const [listed] = await developer.list<Fields>(EVENTS, { type: 'endpoint.test' });
      assert.deepEqual(listed, { id: eventId, type: 'endpoint.test', created_at: at, object_id: endpoint.id });
      await developer.makeEvents();
      await developer.untilAll(other, 1, 'delivered');
      assert.deepEqual(typesAt(other), ['collection.failed']);
    });

    it('cannot be tested while it is disabled', async () => {
      const endpoint = await developer.register();
      await developer.change(endpoint, { state: 'disabled' });
      assertError(await test(endpoint), 'state_conflict');
      assert.deepEqual(await developer.list(EVENTS), []);
    });
  });

  describe('that fails', () => {
    const answering = (endpoint: RegisteredEndpoint, status: number) => {
      testEnv.receiver.answerWith(endpoint.name, (_request, response) => response.writeHead(status).end());
    };
    const auditOf = async ({ id }: RegisteredEndpoint) =>
      (await developer.list<Fields>('/v1/console/audit')).find(
        ({ subject_id: subject, action }) => subject === id && action === 'endpoint.disabled',
      );

    for (const [what, status, reason] of [
      ['it answers with 410', 410, 'answered_gone'],
      ['all its attempts have failed for too long', 500, 'failing'],
    ] as const) {
      it(`is disabled when ${what}, which it shows and the audit log has, until somebody enables it`, async () => {
        const endpoint = await developer.register();
        answering(endpoint, status);
        if (reason === 'failing') {
          const long = `now() - make_interval(secs => ${testEnv.config.clocks.endpointFailingLimitMs / 1000})`;
          await testEnv.db.pool.query(`UPDATE endpoints SET failing_since = ${long} WHERE id = $1`, [endpoint.id]);
        }
        await developer.makeEvents();
        const shown = await eventually('it to be disabled', async () => {
          const now = await developer.show(endpoint);
          return now['state'] === 'disabled' && now;
        });
        assert.equal(shown['disabled_reason'], reason);
        assert.ok(shown['disabled_at']);
        const entry = await auditOf(endpoint);
        assert.deepEqual(
          [entry?.['person'], entry?.['outcome'], entry?.['before'], entry?.['after']],
          [null, 'done', { state: 'enabled' }, { state: 'disabled', disabled_reason: reason }],
        );
        await developer.makeEvents();
        await developer.untilAll(endpoint, 2, 'withheld', 'dead_lettered');
        answering(endpoint, 200);
        await developer.change(endpoint, { state: 'enabled' });
        await replayMany({ endpoint_id: endpoint.id });
        await developer.untilAll(endpoint, 2, 'delivered');
        const healthy = await developer.show(endpoint);
        assert.deepEqual([healthy['failing_since'], healthy['disabled_reason']], [null, null]);
      });
    }
  });

  it('has every attempt of a dead-lettered delivery on record, and gets it again in a replay', async () => {
    const endpoint = await developer.register();
    const answers = [
      { body: 'x'.repeat(20_000), headers: { 'content-length': '20000' } },
      { body: Buffer.from([0x6e, 0x6f, 0xff]), headers: { 'x-why': 'busy' } },
    ];
    testEnv.receiver.answerWith(endpoint.name, (_request, response) => {
      const { body, headers } = answers.shift() ?? answers[0] ?? { body: '', headers: {} };
      response.writeHead(500, headers).end(body);
    });
    await developer.makeEvents();
    const [dead] = await developer.untilAll(endpoint, 1, 'dead_lettered');
    const { json } = await developer.browser.call('GET', `${DELIVERIES}/${dead!.id}`);
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

    testEnv.receiver.answerWith(endpoint.name, null);
    const response = await developer.browser.call('POST', `${DELIVERIES}/${dead!.id}/replay`);
    assert.equal(response.status, 202, response.text);
    assert.equal(response.json['replay_count'], 1);
    await assertAudited(testEnv, response, { action: 'delivery.replayed', subject_id: dead!.id });
    const [again] = await developer.untilAll(endpoint, 1, 'delivered');
    assert.deepEqual([again!.attempt_count, again!.replay_count], [3, 1]);
    const received = developer.received(endpoint);
    const numbers = received.map(({ headers }) => headers['malipo-attempt']);
    assert.deepEqual(numbers, ['1', '2', '3']);
    for (const { rawBody } of received) assert.deepEqual(rawBody, received[0]!.rawBody);
    const event = await developer.browser.call('GET', `${EVENTS}/${dead!.event_id}`);
    assert.deepEqual(event.json['deliveries'], [again]);
    const { id } = await oneRow<{ id: string }>(testEnv.db, 'SELECT payment_id AS id FROM events WHERE id = $1', [
      dead!.event_id,
    ]);
    assert.equal(event.json['object_id'], id);
  });

  it('gets a delivered event again in a replay, signed with the current secret', async () => {
    const endpoint = await developer.register();
    await developer.makeEvents();
    const [delivery] = await developer.untilAll(endpoint, 1, 'delivered');
    const secret = String((await rotate(endpoint)).json['secret']);
    await developer.browser.call('POST', `${DELIVERIES}/${delivery!.id}/replay`);
    const [first, second] = await untilReceived(endpoint, 2);
    assert.deepEqual(second!.rawBody, first!.rawBody);
    const signers = [first!, second!].map((request) => signersOf(request, [endpoint.secret, secret]));
    assert.deepEqual(signers, [[0], [1]]);
    const [again] = await developer.untilAll(endpoint, 1, 'delivered');
    assert.equal(again!.replay_count, 1);
  });
});
