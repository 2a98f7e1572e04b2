// Events, deliveries and replays in the console: listed, filtered and shown, and when a delivery may be sent again.
import assert from 'node:assert/strict';
import { createDeliveryActivities } from '../../../activities/delivery.ts';
import { createWebhookSender } from '../../../src/webhooks/sender.ts';
import { createEndpointConcurrency } from '../../../src/webhooks/endpoint-concurrency.ts';
import { isId, newId } from '../../../src/domain/ids.ts';
import { MAX_RUNNING_REPLAYS } from '../../../src/domain/webhooks/replay.ts';
import type { DeliveryState, NextStep } from '../../../src/domain/webhooks/delivery.ts';
import { API_ONLY, assertError, issuesOf } from '../responses.ts';
import { claim, record } from '../../db/webhooks/deliveries.ts';
import { testLog } from '../../support/engines.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import { logInAs } from '../../support/people.ts';
import {
  atOnce,
  DELIVERIES,
  ENDPOINTS,
  EVENTS,
  nextMoment,
  openDeveloperSession,
  REPLAYS,
} from './developer-session.ts';
import type { Fields, RegisteredEndpoint, ShownDelivery } from './developer-session.ts';
import { valuesOf } from '../../support/values-of.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';

const MINUTE = 60_000;
const NEXT: Readonly<Record<Exclude<DeliveryState, 'pending' | 'withheld'>, NextStep>> = {
  retrying: { state: 'retrying', delayMs: 10 * MINUTE },
  delivered: { state: 'delivered' },
  dead_lettered: { state: 'dead_lettered', disableEndpoint: false },
};

describe('deliveries in the console', () => {
  // Nothing is sent: only the test itself claims deliveries.
  const testEnv = useTestEnvironment(API_ONLY);
  const developer = useFixturePerCase(() => openDeveloperSession(testEnv));

  /** Moves the merchant’s pending deliveries to this state. */
  async function moveAll(state: DeliveryState): Promise<void> {
    if (state === 'pending') return;
    if (state === 'withheld') {
      await testEnv.db.pool.query(
        `UPDATE deliveries SET state = 'withheld', next_attempt_at = NULL WHERE merchant_id = $1 AND state = 'pending'`,
        [developer.merchant.id],
      );
      return;
    }
    const attempt = { startedAt: new Date(), durationMs: 7, result: { kind: 'no_answer', error: 'refused' } } as const;
    const claimed = (await claim(testEnv.db, 1000)).filter(({ merchantId }) => merchantId === developer.merchant.id);
    await record(
      testEnv.db,
      claimed.map((delivery) => ({
        ...delivery,
        attemptNumber: delivery.attemptCount + 1,
        attempt,
        next: NEXT[state],
        at: new Date(),
      })),
    );
    await testEnv.db.pool.query('UPDATE endpoints SET failing_since = NULL');
  }

  async function oneIn(state: DeliveryState): Promise<{ endpoint: RegisteredEndpoint; delivery: ShownDelivery }> {
    const endpoint = await developer.register();
    await developer.makeEvents();
    await moveAll(state);
    const [delivery] = await developer.list(DELIVERIES, { endpoint_id: endpoint.id });
    assert.equal(delivery?.state, state);
    return { endpoint, delivery: delivery };
  }

  const replay = (id: string) => developer.browser.call('POST', `${DELIVERIES}/${id}/replay`);
  const replayMany = (json: Fields = { all: true }) => developer.browser.call('POST', `${DELIVERIES}/replay`, { json });

  it('are listed newest first, in pages, and filtered by endpoint, event, state and time, alone or together', async () => {
    const [one, other] = [await developer.register(), await developer.register()];
    // More deliveries to each endpoint than fit on a page.
    for (let n = 0; n < 4; n++) await developer.makeEvents();
    await moveAll('dead_lettered');
    const between = await nextMoment();
    await developer.makeEvents();
    const all = await developer.list(DELIVERIES);
    assert.deepEqual(
      valuesOf(all, 'id'),
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    assert.equal(all.length, 10);
    const find = (query: Record<string, string>) => developer.list(DELIVERIES, query);
    const isOld = ({ created_at: at }: ShownDelivery) => at < between;
    const from = { created_from: between };
    const to = { created_to: between };
    const event = all[2]!.event_id;
    for (const [query, matches] of [
      [{ endpoint_id: one.id }, (row) => row.endpoint_id === one.id],
      [{ event_id: event }, (row) => row.event_id === event],
      [{ event_id: event, endpoint_id: other.id }, (row) => row.event_id === event && row.endpoint_id === other.id],
      [{ state: 'dead_lettered' }, (row) => row.state === 'dead_lettered'],
      [{ state: 'delivered' }, () => false],
      [{ state: 'dead_lettered', endpoint_id: one.id }, (row) => isOld(row) && row.endpoint_id === one.id],
      [from, (row) => !isOld(row)],
      [to, isOld],
      [{ ...to, state: 'pending' }, () => false],
      [
        { ...from, state: 'pending', event_id: all[0]!.event_id, endpoint_id: one.id },
        (row) => (row === all[1] || row === all[0] ? row.endpoint_id === one.id : false),
      ],
    ] satisfies [Record<string, string>, (row: ShownDelivery) => boolean][]) {
      assert.deepEqual(await find(query), all.filter(matches), JSON.stringify(query));
    }
    for (const query of ['', '&state=dead_lettered', `&endpoint_id=${one.id}`]) {
      const ids: string[] = [];
      for (let cursor: string | null = '', pages = 0; cursor !== null; pages++) {
        assert.ok(pages < 10);
        const at = cursor === '' ? '' : `&cursor=${cursor}`;
        const { json } = await developer.browser.call('GET', `${DELIVERIES}?limit=2${query}${at}`);
        ids.push(...(json['data'] as ShownDelivery[]).map(({ id }) => id));
        cursor = json['next_cursor'] as string | null;
      }
      const whole = await find(Object.fromEntries(new URLSearchParams(query)));
      assert.deepEqual(ids, valuesOf(whole, 'id'), query);
    }
  });

  it('are not listed with invalid filters', async () => {
    const query = 'endpoint_id=col_1&event_id=x&state=lost&created_from=now&colour=red&limit=0';
    const wrong = await developer.browser.call('GET', `${DELIVERIES}?${query}`);
    assertError(wrong, 'parameter_invalid');
    assert.deepEqual(issuesOf(wrong).sort(), [
      'colour parameter_unknown',
      'created_from parameter_invalid',
      'endpoint_id parameter_invalid',
      'event_id parameter_invalid',
      'limit parameter_invalid',
      'state parameter_invalid',
    ]);
    assertError(await developer.browser.call('GET', `${DELIVERIES}?cursor=abc`), 'cursor_invalid');
  });

  it('belong to events, which are listed by type and time and shown byte for byte', async () => {
    const endpoint = await developer.register();
    await developer.makeEvents('succeeded');
    const between = await nextMoment();
    await developer.makeEvents('failed');
    const all = await developer.list<Fields>(EVENTS);
    assert.deepEqual(valuesOf(all, 'type'), ['collection.failed', 'collection.succeeded', 'collection.prompted']);
    assert.ok(all.every(({ object_id: id }) => isId('col', String(id))));
    assert.deepEqual(await developer.list(EVENTS, { type: 'collection.prompted' }), [all[2]]);
    assert.deepEqual(await developer.list(EVENTS, { created_from: between }), [all[0]]);
    assert.deepEqual(await developer.list(EVENTS, { created_to: between }), all.slice(1));
    assert.deepEqual(await developer.list(EVENTS, { created_to: between, type: 'collection.failed' }), []);
    assertError(await developer.browser.call('GET', `${EVENTS}?type=money.lost`), 'parameter_invalid');
    const first = (await developer.browser.call('GET', `${EVENTS}?limit=2`)).json;
    const rest = (await developer.browser.call('GET', `${EVENTS}?limit=2&cursor=${String(first['next_cursor'])}`)).json;
    assert.deepEqual([...(first['data'] as Fields[]), ...(rest['data'] as Fields[])], all);
    const { json } = await developer.browser.call('GET', `${EVENTS}/${String(all[1]!['id'])}`);
    const { body, deliveries, ...shown } = json;
    assert.deepEqual(shown, all[1]);
    const event = JSON.parse(String(body)) as { id: string; type: string; data: { object: { id: string } } };
    assert.deepEqual([event.id, event.type, event.data.object.id], [shown['id'], shown['type'], shown['object_id']]);
    assert.deepEqual(deliveries, await developer.list(DELIVERIES, { event_id: String(shown['id']) }));
    assert.deepEqual(valuesOf(deliveries, 'endpoint_id'), [endpoint.id]);
  });

  describe('that are replayed one by one', () => {
    for (const state of ['retrying', 'delivered', 'dead_lettered', 'withheld'] as const) {
      it(`start their schedule again and continue their count of attempts when ${state}`, async () => {
        const { delivery } = await oneIn(state);
        const response = await replay(delivery.id);
        assert.equal(response.status, 202, response.text);
        const { state: now, replay_count: count, attempt_count: attempts, next_attempt_at: next } = response.json;
        assert.deepEqual([now, count, attempts], ['pending', 1, delivery.attempt_count]);
        assert.ok(Date.parse(String(next)) <= Date.now());
        await assertAudited(testEnv, response, {
          action: 'delivery.replayed',
          subject_id: delivery.id,
          user_id: developer.person.id,
        });
        const [due] = (await claim(testEnv.db, 1000)).filter(({ id }) => id === delivery.id);
        assert.deepEqual([due?.replayCount, due?.attemptsBeforeReplay], [1, delivery.attempt_count]);
      });
    }

    it('stay as they are when pending, because they are due anyway', async () => {
      const { delivery } = await oneIn('pending');
      const response = await replay(delivery.id);
      assert.deepEqual([response.status, response.json], [202, delivery]);
      assert.deepEqual(await auditRows(testEnv, response), []);
    });

    it('are replayed once when two calls replay them at once', async () => {
      const { delivery } = await oneIn('dead_lettered');
      const both = await Promise.all([replay(delivery.id), replay(delivery.id)]);
      for (const { status, json } of both) assert.deepEqual([status, json['replay_count']], [202, 1]);
    });

    it('cannot be replayed while the endpoint is disabled', async () => {
      const { endpoint, delivery } = await oneIn('dead_lettered');
      await developer.change(endpoint, { state: 'disabled' });
      assertError(await replay(delivery.id), 'state_conflict');
      await developer.change(endpoint, { state: 'enabled' });
      assert.equal((await replay(delivery.id)).status, 202);
    });

    it('cannot be replayed by another merchant, nor by a viewer', async () => {
      const { delivery } = await oneIn('dead_lettered');
      const stranger = await openDeveloperSession(testEnv);
      for (const id of [delivery.id, newId('dlv'), 'dlv_1']) {
        assertError(await stranger.browser.call('POST', `${DELIVERIES}/${id}/replay`), 'delivery_not_found');
      }
      const viewer = await logInAs(testEnv, developer.merchant.id, 'viewer');
      assertError(await viewer.call('POST', `${DELIVERIES}/${delivery.id}/replay`), 'permission_denied');
      assert.equal((await viewer.call('GET', `${DELIVERIES}/${delivery.id}`)).status, 200);
    });

    it('are not sent by the workflow from before the replay when its next attempt is due', async () => {
      const { endpoint, delivery } = await oneIn('retrying');
      assert.equal((await replay(delivery.id)).status, 202);
      await moveAll('retrying');
      const { settings, clocks } = testEnv.config;
      const sender = createWebhookSender({
        keyRing: settings.MALIPO_SECRET_KEYS,
        allowsLoopback: true,
        connectTimeoutMs: clocks.deliveryConnectTimeoutMs,
        attemptTimeoutMs: clocks.deliveryTimeoutMs,
        keptConnections: 10,
        log: testLog,
      });
      const activities = createDeliveryActivities({
        db: testEnv.db,
        sender,
        concurrency: createEndpointConcurrency(10),
        clocks,
        tryNumber: () => 1,
        log: testLog,
      });
      const [deliveryId] = [delivery.id].filter((id) => isId('dlv', id));
      try {
        assert.equal(await activities.sendDelivery({ deliveryId: deliveryId!, replayCount: 0 }), 'not_owed');
        assert.deepEqual(developer.received(endpoint), []);
        assert.equal(await activities.sendDelivery({ deliveryId: deliveryId!, replayCount: 1 }), 'delivered');
        const numbers = developer.received(endpoint).map(({ headers }) => headers['malipo-attempt']);
        assert.deepEqual(numbers, ['3']);
      } finally {
        await sender.close();
      }
    });
  });

  describe('that are replayed in bulk', () => {
    it('are by default all that did not arrive, or those of an endpoint, of states or of a time range', async () => {
      const { endpoint } = await oneIn('dead_lettered');
      await developer.makeEvents();
      await moveAll('withheld');
      await developer.makeEvents();
      await moveAll('delivered');
      const by = { endpoint_id: endpoint.id };
      const anHourAgo = new Date(Date.now() - 60 * MINUTE).toISOString();
      const totals = new Map<Fields, number>([
        [{ all: true }, 2],
        [{ states: ['delivered'] }, 1],
        [{ states: ['delivered', 'dead_lettered', 'withheld'], ...by }, 3],
        [{ ...by, created_from: anHourAgo }, 2],
        [{ created_to: anHourAgo }, 0],
      ]);
      for (const [json, total] of totals) {
        const response = await replayMany(json);
        assert.equal(response.status, 202, response.text);
        assert.equal(response.json['total'], total, JSON.stringify(json));
        assert.deepEqual(response.json, {
          id: response.json['id'],
          endpoint_id: json['endpoint_id'] ?? null,
          states: json['states'] ?? ['dead_lettered', 'withheld'],
          created_from: json['created_from'] ?? null,
          created_to: json['created_to'] ?? response.json['created_at'],
          state: 'running',
          total,
          replayed: 0,
          skipped: 0,
          requested_by: developer.person.id,
          requested_by_person: { id: developer.person.id, name: 'The developer', email: developer.person.email },
          created_at: response.json['created_at'],
          completed_at: null,
        });
        assert.deepEqual(
          (await developer.browser.call('GET', `${REPLAYS}/${String(response.json.id)}`)).json,
          response.json,
        );
        await assertAudited(testEnv, response, {
          action: 'deliveries.replayed',
          subject_id: String(response.json.id),
          after: { endpoint_id: json['endpoint_id'] ?? null, states: response.json.states, total },
        });
      }
    });

    it('are chosen from forms too, and never include future ones', async () => {
      const form = new URLSearchParams([
        ['states', 'withheld'],
        ['created_to', new Date(Date.now() + 60 * MINUTE).toISOString()],
      ]);
      const response = await developer.browser.call('POST', `${DELIVERIES}/replay`, { form });
      assert.equal(response.status, 202, response.text);
      assert.deepEqual(
        [response.json['states'], response.json['created_to']],
        [['withheld'], response.json['created_at']],
      );
    });

    it('are never all of them unless the request says so', async () => {
      await oneIn('dead_lettered');
      const path = `${DELIVERIES}/replay`;
      const { browser } = developer;
      const silent = [
        await browser.call('POST', path),
        await browser.call('POST', path, { json: {} }),
        await browser.call('POST', path, { form: {} }),
        await browser.call('POST', path, { json: { all: false } }),
      ];
      for (const response of silent) assertError(response, 'parameter_invalid');
      assert.deepEqual(await developer.list(REPLAYS), []);
      assert.equal((await browser.call('POST', path, { form: { all: 'true' } })).status, 202);
    });

    it('cannot be chosen with invalid filters', async () => {
      const wrong = await replayMany({ endpoint_id: 'col_1', states: ['pending'], created_from: 'x', limit: 5 });
      assertError(wrong, 'parameter_invalid');
      assert.deepEqual(issuesOf(wrong).sort(), [
        'created_from parameter_invalid',
        'endpoint_id parameter_invalid',
        'limit parameter_unknown',
        'states.0 parameter_invalid',
      ]);
      for (const states of [[], ['withheld', 'withheld'], 'withheld']) {
        assertError(await replayMany({ states }), 'parameter_invalid');
      }
      const stranger = await openDeveloperSession(testEnv);
      for (const id of [(await stranger.register()).id, newId('whe')]) {
        assertError(await replayMany({ endpoint_id: id }), 'endpoint_not_found');
      }
      const viewer = await logInAs(testEnv, developer.merchant.id, 'viewer');
      assertError(await viewer.call('POST', `${DELIVERIES}/replay`, { json: {} }), 'permission_denied');
      assert.deepEqual(await developer.list(REPLAYS), []);
    });

    it('run in a limited number of replays, which are listed in pages, newest first', async () => {
      const replays: unknown[] = [];
      while (replays.length < MAX_RUNNING_REPLAYS - 1) replays.unshift((await replayMany()).json['id']);
      const one = () => replayMany();
      const both = await atOnce(testEnv, developer.merchant, [one, one]);
      assert.deepEqual(both.map(({ status }) => status).sort(), [202, 409]);
      replays.unshift(both.find(({ status }) => status === 202)!.json['id']);
      assertError(await replayMany(), 'state_conflict');
      const page = async (query: string) => (await developer.browser.call('GET', `${REPLAYS}?limit=3${query}`)).json;
      const first = await page('');
      const rest = await page(`&cursor=${String(first['next_cursor'])}`);
      const ids = [first, rest].flatMap(({ data }) => (data as Fields[]).map(({ id }) => id));
      assert.deepEqual(ids, replays);
      assert.equal(rest['has_more'], false);
      const stranger = await openDeveloperSession(testEnv);
      assert.deepEqual(await stranger.list(REPLAYS), []);
      assert.equal((await stranger.browser.call('POST', `${DELIVERIES}/replay`, { json: { all: true } })).status, 202);
      for (const id of [replays[0], newId('rpl'), 'rpl_1']) {
        assertError(await stranger.browser.call('GET', `${REPLAYS}/${String(id)}`), 'replay_not_found');
      }
    });

    it('have a path that is never read as an id', async () => {
      assertError(await developer.browser.call('GET', `${DELIVERIES}/replay`), 'method_not_allowed');
      assertError(await developer.browser.call('POST', `${ENDPOINTS}/replay`), 'method_not_allowed');
    });
  });
});
