// Webhook endpoints in the console: registered, shown, changed and deleted, by whom, and what is refused.
import assert from 'node:assert/strict';
import { open } from '../../../src/security/sealing.ts';
import { newId } from '../../../src/domain/ids.ts';
import { API_ONLY, assertError, issuesOf } from '../responses.ts';
import { oneRow } from '../../db/rows.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import { logInAs } from '../../support/people.ts';
import { atOnce, ENDPOINTS, openDeveloperSession, type Fields, type RegisteredEndpoint } from './developer-session.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';

const URL = 'https://shop.example/webhooks';
const LIMIT = 16;

describe('webhook endpoints in the console', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const developer = useFixturePerCase(() => openDeveloperSession(testEnv));

  const create = (fields: Fields) => developer.browser.call('POST', ENDPOINTS, { json: fields });

  it('are registered for all event types, with a secret that is shown once and stored sealed', async () => {
    const response = await create({ url: URL });
    const { secret, ...shown } = response.json;
    assert.match(String(secret), /^whsec_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(shown, {
      id: shown['id'],
      url: URL,
      description: null,
      event_types: null,
      state: 'enabled',
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      will_be_disabled_at: null,
      previous_secret_until: null,
      created_at: shown['created_at'],
      updated_at: shown['created_at'],
    });
    const id = String(shown.id);
    assert.deepEqual((await developer.browser.call('GET', `${ENDPOINTS}/${id}`)).json, shown);
    assert.deepEqual(await developer.list(ENDPOINTS), [shown]);
    const { sealed } = await oneRow<{ sealed: string }>(
      testEnv.db,
      'SELECT secret_sealed AS sealed FROM endpoints WHERE id = $1',
      [id],
    );
    assert.ok(!sealed.includes(String(secret).slice(6, 20)));
    assert.equal(open(sealed, id, testEnv.config.settings.MALIPO_SECRET_KEYS), secret);
    const row = await assertAudited(testEnv, response, {
      action: 'endpoint.registered',
      subject_id: id,
      user_id: developer.person.id,
      before: null,
      after: { url: URL, description: null, event_types: null },
    });
    assert.ok(!JSON.stringify(row).includes('whsec_'));
  });

  it('are registered from forms too, with one event type, several or none', async () => {
    const settingsOf = async (...fields: readonly [string, string][]) => {
      const form = new URLSearchParams([['url', URL], ...fields]);
      const { status, json, text } = await developer.browser.call('POST', ENDPOINTS, { form });
      assert.equal(status, 201, text);
      return [json['description'], json['event_types']];
    };
    assert.deepEqual(await settingsOf(), [null, null]);
    assert.deepEqual(await settingsOf(['description', ''], ['event_types', '']), [null, null]);
    const one = ['event_types', 'collection.failed'] as const;
    assert.deepEqual(await settingsOf(['description', 'Till'], [...one]), ['Till', ['collection.failed']]);
    const two = await settingsOf([...one], ['event_types', 'payout.queued']);
    assert.deepEqual(two, [null, ['collection.failed', 'payout.queued']]);
  });

  it('are refused with every problem named', async () => {
    const wrong = await create({ url: 'shop', description: ' ', event_types: ['money.lost'], secret: 'mine' });
    assertError(wrong, 'parameter_invalid');
    assert.deepEqual(issuesOf(wrong).sort(), [
      'description parameter_invalid',
      'event_types.0 parameter_invalid',
      'secret parameter_unknown',
      'url parameter_invalid',
    ]);
    assertError(await create({}), 'parameter_missing');
    for (const types of [[], ['payout.queued', 'payout.queued'], 'payout.queued', ['endpoint.test']]) {
      assertError(await create({ url: URL, event_types: types }), 'parameter_invalid');
    }
    assert.deepEqual(await developer.list(ENDPOINTS), []);
  });

  it('are refused with the reason, new or changed, when nothing may be sent to their URL', async () => {
    const endpoint = await developer.register();
    for (const [url, reason] of [
      ['http://shop.example/', /https/],
      ['https://10.1.2.3/', /public internet/],
      ['https://user:word@shop.example/', /credentials/],
      ['ftp://shop.example/', /https/],
      ['//shop.example/', /absolute/],
      ['https:///hooks', /no host that every program reads alike/],
      [`https://${'a'.repeat(64)}.example/hooks`, /no host that every program reads alike/],
      ['https://shop.example/\n', /visible ASCII/],
      [`https://shop.example/${'x'.repeat(2048)}`, /2048/],
      [5, /address/],
    ] as const) {
      for (const response of [await create({ url }), await developer.change(endpoint, { url })]) {
        const { param, message } = assertError(response, 'parameter_invalid');
        assert.equal(param, 'url');
        assert.match(message, reason);
      }
    }
    assert.equal((await developer.show(endpoint))['url'], endpoint.shown['url']);
  });

  it('are limited to sixteen, even when two are registered at once, and a deleted one does not count', async () => {
    const registered: RegisteredEndpoint[] = [];
    while (registered.length < LIMIT - 1) registered.push(await developer.register());
    const one = () => create({ url: URL });
    const both = await atOnce(testEnv, developer.merchant, [one, one]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
    assertError(await create({ url: URL }), 'state_conflict');
    await developer.browser.call('DELETE', `${ENDPOINTS}/${registered[0]!.id}`);
    assert.equal((await create({ url: URL })).status, 201);
    assertError(await create({ url: URL }), 'state_conflict');
  });

  it('are listed in pages, newest first', async () => {
    const registered: string[] = [];
    for (let n = 0; n < 3; n++) registered.unshift((await developer.register()).id);
    const page = async (query: string) => (await developer.browser.call('GET', `${ENDPOINTS}?limit=2${query}`)).json;
    const first = await page('');
    const rest = await page(`&cursor=${String(first['next_cursor'])}`);
    const ids = [first, rest].flatMap(({ data }) => (data as { id: string }[]).map(({ id }) => id));
    assert.deepEqual(ids, registered);
    assert.deepEqual([first['has_more'], rest['has_more'], rest['next_cursor']], [true, false, null]);
    assertError(await developer.browser.call('GET', `${ENDPOINTS}?cursor=abc`), 'cursor_invalid');
  });

  describe('that are changed', () => {
    it('change in the named fields alone, and the audit log has both versions', async () => {
      const endpoint = await developer.register({ description: 'Till', event_types: ['payout.queued'] });
      await testEnv.db.pool.query("UPDATE endpoints SET updated_at = now() - interval '1 h' WHERE id = $1", [
        endpoint.id,
      ]);
      const response = await developer.change(endpoint, { url: URL });
      assert.equal(response.status, 200, response.text);
      const { updated_at: updatedAt, ...rest } = response.json;
      const { updated_at: createdAt, ...shown } = endpoint.shown;
      assert.ok(String(updatedAt) >= String(createdAt));
      assert.deepEqual(rest, { ...shown, url: URL });
      assert.deepEqual(await developer.show(endpoint), response.json);
      const same = { description: 'Till', event_types: ['payout.queued'], state: 'enabled' };
      await assertAudited(testEnv, response, {
        action: 'endpoint.changed',
        subject_id: endpoint.id,
        before: { url: endpoint.shown['url'], ...same },
        after: { url: URL, ...same },
      });
    });

    it('lose a field by null, or by an empty field of a form', async () => {
      const settings = { description: 'Till', event_types: ['payout.queued'] };
      const byJson = await developer.register(settings);
      const byForm = await developer.register(settings);
      const empty = { description: '', event_types: '' };
      for (const response of [
        await developer.change(byJson, { description: null, event_types: null }),
        await developer.browser.call('PATCH', `${ENDPOINTS}/${byForm.id}`, { form: empty }),
      ]) {
        assert.deepEqual([response.json['description'], response.json['event_types']], [null, null], response.text);
      }
    });

    it('refuse a change without a field, or to an unknown state or type', async () => {
      const endpoint = await developer.register();
      assertError(await developer.change(endpoint, {}), 'parameter_invalid');
      assertError(await developer.change(endpoint, { state: 'deleted' }), 'parameter_invalid');
      assertError(await developer.change(endpoint, { event_types: ['endpoint.test'] }), 'parameter_invalid');
      assertError(await developer.change(endpoint, { disabled_reason: null }), 'parameter_unknown');
      assert.deepEqual(await developer.show(endpoint), endpoint.shown);
    });

    it('keep the changes of several concurrent calls', async () => {
      const endpoint = await developer.register();
      const changes = [
        { url: URL },
        { description: 'Till' },
        { event_types: ['payout.queued'] },
        { state: 'disabled' },
      ];
      const responses = await Promise.all(changes.map((fields) => developer.change(endpoint, fields)));
      for (const { status, text } of responses) assert.equal(status, 200, text);
      const shown = await developer.show(endpoint);
      for (const fields of changes) {
        for (const [name, value] of Object.entries(fields)) assert.deepEqual(shown[name], value, name);
      }
    });

    it('leave no audit entry when the change changes nothing', async () => {
      const endpoint = await developer.register();
      const response = await developer.change(endpoint, { state: 'enabled', description: null });
      assert.deepEqual(response.json, endpoint.shown);
      assert.deepEqual(await auditRows(testEnv, response), []);
    });

    it('are disabled and enabled again by a person, and their earlier failures no longer count', async () => {
      const endpoint = await developer.register();
      await testEnv.db.pool.query('UPDATE endpoints SET failing_since = now() WHERE id = $1', [endpoint.id]);
      const disabled = (await developer.change(endpoint, { state: 'disabled' })).json;
      assert.deepEqual([disabled['state'], disabled['disabled_reason']], ['disabled', 'by_person']);
      assert.equal(disabled['disabled_at'], disabled['updated_at']);
      assert.ok(disabled['failing_since']);
      assert.equal(disabled['will_be_disabled_at'], null);
      const enabled = (await developer.change(endpoint, { state: 'enabled' })).json;
      assert.deepEqual({ ...enabled, updated_at: null }, { ...endpoint.shown, updated_at: null });
    });

    it('get another URL, and the failures of the old one no longer count', async () => {
      const endpoint = await developer.register();
      await testEnv.db.pool.query('UPDATE endpoints SET failing_since = now() WHERE id = $1', [endpoint.id]);
      const shown = await developer.show(endpoint);
      const limitMs = Date.parse(String(shown['will_be_disabled_at'])) - Date.parse(String(shown['failing_since']));
      assert.equal(limitMs, testEnv.config.clocks.endpointFailingLimitMs);
      assert.ok((await developer.change(endpoint, { description: 'Till' })).json['failing_since']);
      assert.equal((await developer.change(endpoint, { url: URL })).json['failing_since'], null);
    });
  });

  describe('that are deleted', () => {
    it('are gone from every list and for every call, and their secrets are erased', async () => {
      const endpoint = await developer.register({ description: 'Till' });
      await developer.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/rotate`, { json: { keep_previous_for: 60 } });
      const response = await developer.browser.call('DELETE', `${ENDPOINTS}/${endpoint.id}`);
      assert.deepEqual([response.status, response.text], [204, '']);
      await assertAudited(testEnv, response, {
        action: 'endpoint.deleted',
        subject_id: endpoint.id,
        before: { url: endpoint.shown['url'], description: 'Till', event_types: null, state: 'enabled' },
        after: null,
      });
      const secrets =
        'SELECT secret_sealed, previous_secret_sealed, previous_secret_until FROM endpoints WHERE id = $1';
      assert.deepEqual(Object.values(await oneRow<object>(testEnv.db, secrets, [endpoint.id])), [null, null, null]);
      assert.deepEqual(await developer.list(ENDPOINTS), []);
      for (const again of [
        await developer.browser.call('DELETE', `${ENDPOINTS}/${endpoint.id}`),
        await developer.browser.call('GET', `${ENDPOINTS}/${endpoint.id}`),
        await developer.change(endpoint, { state: 'enabled' }),
        await developer.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/rotate`, { json: {} }),
        await developer.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/test`),
      ]) {
        assertError(again, 'endpoint_not_found');
      }
    });

    it('are deleted once when two calls delete them at once', async () => {
      const endpoint = await developer.register();
      const both = await Promise.all([1, 2].map(() => developer.browser.call('DELETE', `${ENDPOINTS}/${endpoint.id}`)));
      assert.deepEqual(both.map(({ status }) => status).sort(), [204, 404]);
    });
  });

  describe('whose secret is rotated', () => {
    const rotate = (endpoint: RegisteredEndpoint, json: Fields = {}) =>
      developer.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/rotate`, { json });

    it('show the new secret once, and the audit log has only the end of the old one', async () => {
      const endpoint = await developer.register();
      const before = Date.now();
      const rotation = await developer.browser.call('POST', `${ENDPOINTS}/${endpoint.id}/rotate`, {
        form: { keep_previous_for: '3600' },
      });
      assert.equal(rotation.status, 200, rotation.text);
      assert.match(String(rotation.json['secret']), /^whsec_/);
      assert.notEqual(rotation.json['secret'], endpoint.secret);
      const until = String(rotation.json['previous_secret_until']);
      assert.ok(Date.parse(until) >= before + 3_600_000 && Date.parse(until) <= Date.now() + 3_600_000);
      const row = await assertAudited(testEnv, rotation, {
        action: 'endpoint.secret_rotated',
        subject_id: endpoint.id,
        before: { previous_secret_until: null },
        after: { previous_secret_until: until },
      });
      assert.ok(!JSON.stringify(row).includes('whsec_'));
      const { secret, ...shown } = rotation.json;
      assert.ok(secret);
      assert.deepEqual(await developer.show(endpoint), shown);
      const rotated = await rotate(endpoint);
      assert.equal(rotated.json['previous_secret_until'], null);
      const previous = 'SELECT previous_secret_sealed FROM endpoints WHERE id = $1';
      assert.deepEqual(await oneRow(testEnv.db, previous, [endpoint.id]), { previous_secret_sealed: null });
    });

    it('do not show an overlap that has ended', async () => {
      const endpoint = await developer.register();
      await rotate(endpoint, { keep_previous_for: 60 });
      await testEnv.db.pool.query(`UPDATE endpoints SET previous_secret_until = now() WHERE id = $1`, [endpoint.id]);
      assert.equal((await developer.show(endpoint))['previous_secret_until'], null);
    });

    it('overlap for a day at most', async () => {
      const endpoint = await developer.register();
      for (const seconds of [-1, 1.5, 86_401, '60']) {
        assertError(await rotate(endpoint, { keep_previous_for: seconds }), 'parameter_invalid');
      }
      assert.equal((await rotate(endpoint, { keep_previous_for: 86_400 })).status, 200);
    });
  });

  it('are reported like unknown ones when they belong to another merchant', async () => {
    const stranger = await openDeveloperSession(testEnv);
    const { id: foreign } = await stranger.register();
    const strip = ({ text }: { text: string }) => text.replace(/req_[0-9a-z]{26}/, 'req_');
    const responses = [];
    for (const id of [foreign, newId('whe'), 'whe_1', '%00']) {
      responses.push(
        await developer.browser.call('GET', `${ENDPOINTS}/${id}`),
        await developer.browser.call('DELETE', `${ENDPOINTS}/${id}`),
        await developer.browser.call('PATCH', `${ENDPOINTS}/${id}`, { json: { state: 'disabled' } }),
        await developer.browser.call('POST', `${ENDPOINTS}/${id}/rotate`, { json: {} }),
        await developer.browser.call('POST', `${ENDPOINTS}/${id}/test`),
      );
    }
    for (const response of responses) assertError(response, 'endpoint_not_found');
    assert.equal(new Set(responses.map(strip)).size, 1);
  });

  it('are managed by developers and admins, and shown to every role', async () => {
    const { id } = await developer.register();
    for (const role of ['maker', 'approver', 'viewer'] as const) {
      const browser = await logInAs(testEnv, developer.merchant.id, role);
      assertError(await browser.call('POST', ENDPOINTS, { json: { url: URL } }), 'permission_denied');
      assertError(await browser.call('POST', `${ENDPOINTS}/${id}/rotate`, { json: {} }), 'permission_denied');
      assert.equal((await browser.call('GET', `${ENDPOINTS}/${id}`)).status, 200);
    }
    const admin = await logInAs(testEnv, developer.merchant.id, 'admin');
    assert.equal((await admin.call('DELETE', `${ENDPOINTS}/${id}`)).status, 204);
  });
});
