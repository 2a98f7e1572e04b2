// Access to every console route by role, by origin and without a session, and to the public API with a session.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import { ROLES, type Role } from '../../../src/domain/accounts/member.ts';
import { call, collectionFields } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, logInAs, logIn, PASSWORD, enter } from '../../support/people.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import type { Browser } from '../../support/browser.ts';
import { openApiOf } from '../../support/openapi-check.ts';
import { API_ONLY, assertError, assertNotAuthenticated, assertDenied } from '../responses.ts';
import { operationsOf, type OpenApiDocument } from '../openapi-structure.ts';

/** The roles table of the contract, by route. An owner may call every route; a route that is not listed is open to all roles. */
const LIMITED: Readonly<Record<string, readonly Role[]>> = {
  'POST /v1/console/keys': ['admin', 'developer'],
  'POST /v1/console/keys/{id}/roll': ['admin', 'developer'],
  'DELETE /v1/console/keys/{id}': ['admin', 'developer'],
  'PATCH /v1/console/members/{id}': ['admin'],
  'DELETE /v1/console/members/{id}': ['admin'],
  'DELETE /v1/console/members/{id}/sessions': ['admin'],
  'POST /v1/console/member-changes/{id}/approve': ['admin'],
  'POST /v1/console/member-changes/{id}/reject': ['admin'],
  'DELETE /v1/console/member-changes/{id}': ['admin'],
  'POST /v1/console/invitations': ['admin'],
  'POST /v1/console/invitations/{id}/approve': ['admin'],
  'POST /v1/console/invitations/{id}/reject': ['admin'],
  'DELETE /v1/console/invitations/{id}': ['admin'],
  'PATCH /v1/console/policy': ['admin'],
  'POST /v1/console/policy/changes/{id}/approve': ['admin'],
  'POST /v1/console/policy/changes/{id}/reject': ['admin'],
  'DELETE /v1/console/policy/changes/{id}': ['admin'],
};
const BEFORE_A_SESSION = [
  'POST /v1/console/session',
  'POST /v1/console/session/options',
  'POST /v1/console/invitations/accept',
];
const IDS: Readonly<Record<string, string>> = {
  keys: newId('key'),
  'member-changes': newId('mch'),
  members: newId('usr'),
  sessions: newId('ses'),
  session: newId('psk'),
  invitations: newId('inv'),
  policy: newId('pch'),
};

describe('the console', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let routes: { method: string; path: string; name: string }[];
  const browsers = {} as Record<Role, Browser>;

  before(async () => {
    const document = (await openApiOf(testEnv.baseUrl)) as unknown as OpenApiDocument;
    routes = operationsOf(document)
      .filter(
        ({ path }) =>
          Object.keys(IDS).some((part) => path.startsWith(`/v1/console/${part}`)) ||
          path.startsWith('/v1/console/session') ||
          path === '/v1/console/audit',
      )
      .map(({ method, path }) => ({
        method,
        name: `${method} ${path}`,
        path: path.replace('{id}', IDS[path.split('/')[3]!] ?? ''),
      }))
      .filter(({ name }) => !BEFORE_A_SESSION.includes(name));
    for (const role of ROLES) browsers[role] = await logInAs(testEnv, testEnv.merchant.id, role);
  });

  it('has the routes that these tests cover', () => {
    assert.ok(routes.length >= 22, `${routes.length}`);
    for (const name of Object.keys(LIMITED))
      assert.ok(
        routes.some((route) => route.name === name),
        name,
      );
  });

  it('refuses every call without a session in the same words, and records no person', async () => {
    const texts = new Set<string>();
    for (const { method, path } of routes) {
      const response = await call(testEnv.baseUrl, method, path, {
        idempotencyKey: null,
        headers: { origin: testEnv.baseUrl, 'malipo-console': '1' },
      });
      assertNotAuthenticated(response);
      assert.deepEqual(await auditRows(testEnv, response), []);
      texts.add(response.text.replace(/req_[0-9a-z]{26}/, 'req_'));
    }
    assert.equal(texts.size, 1);
  });

  it('accepts no API key instead of a session', async () => {
    for (const { method, path } of routes) {
      const response = await call(testEnv.baseUrl, method, path, { key: testEnv.merchant.key, idempotencyKey: null });
      assertNotAuthenticated(response);
    }
  });

  for (const role of ROLES) {
    it(`lets a member in the role ${role} call exactly the operations of that role`, async () => {
      for (const { method, path, name } of routes) {
        // Logging out would end the session that the other calls need.
        if (name === 'DELETE /v1/console/session') continue;
        const may = role === 'owner' || LIMITED[name]?.includes(role) !== false;
        const response = await browsers[role].call(method, path);
        if (may) {
          // Without a body most routes name what is missing; a step-up without a password or code is refused.
          const isStepUp = name.endsWith('/step-up');
          assert.ok(response.status !== 403 || isStepUp, `${role}: ${name} ${response.text}`);
        } else {
          const row = await assertDenied(testEnv, response);
          assert.equal(row.action, name.replace('{id}', ':id'));
        }
      }
    });
  }

  it('refuses changes from pages that are not ours', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    const foreign: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${testEnv.baseUrl}.evil.example` },
      { origin: testEnv.baseUrl.replace('http:', 'https:') },
      { origin: '' },
      { 'malipo-console': '' },
      { 'malipo-console': '0' },
    ];
    for (const { method, path } of routes.filter((route) => route.method !== 'GET')) {
      for (const headers of foreign) {
        const response = await browser.call(method, path, { headers });
        await assertDenied(testEnv, response);
      }
    }
    for (const { path } of routes.filter((route) => route.method === 'GET')) {
      const response = await call(testEnv.baseUrl, 'GET', path, { headers: { cookie: browser.cookie } });
      assert.equal(response.status, 200, 'reading needs the cookie alone');
    }
  });

  it('refuses unknown query parameters', async () => {
    for (const path of ['/v1/console/members', '/v1/console/audit', '/v1/console/keys', '/v1/console/policy']) {
      assertError(await browsers.viewer.call('GET', `${path}?colour=red`), 'parameter_unknown');
    }
  });

  describe('in its audit log', () => {
    const AUDIT = '/v1/console/audit';

    it('lists entries newest first, in pages, of this merchant only', async () => {
      const merchant = await testEnv.addMerchant();
      const { person, browser: owner } = await enter(testEnv, merchant.id, ['owner']);
      for (let n = 0; n < 4; n++)
        await owner.call('POST', '/v1/console/keys', { json: { name: `k${n}`, scopes: ['balance:read'] } });
      const first = await owner.call('GET', `${AUDIT}?limit=3`);
      const second = await owner.call('GET', `${AUDIT}?limit=3&cursor=${String(first.json['next_cursor'])}`);
      type Entry = { action: string; person: { id: string }; after: { name?: string } | null; address: string };
      const entries = [first, second].flatMap(({ json }) => json['data'] as Entry[]);
      const names = entries.map(({ action, after }) => `${action} ${after?.name ?? ''}`.trim());
      assert.deepEqual(names, [
        'api_key.created k3',
        'api_key.created k2',
        'api_key.created k1',
        'api_key.created k0',
        'session.opened',
      ]);
      assert.ok(entries.every((entry) => entry.person.id === person.id && entry.address === '127.0.0.1'));
      assert.deepEqual(
        [first.json['has_more'], second.json['has_more'], second.json['next_cursor']],
        [true, false, null],
      );
      assertError(await owner.call('GET', `${AUDIT}?cursor=0`), 'cursor_invalid');
    });

    it('shows refusals with their reasons, and no secret', async () => {
      const merchant = await testEnv.addMerchant();
      const viewer = await logInAs(testEnv, merchant.id, 'viewer');
      await viewer.call('POST', '/v1/console/keys', { json: { name: 'k', scopes: ['balance:read'] } });
      const { json, text } = await viewer.call('GET', AUDIT);
      const [entry] = json['data'] as Record<string, unknown>[];
      assert.deepEqual(
        [entry?.['action'], entry?.['outcome'], entry?.['after']],
        ['POST /v1/console/keys', 'refused', { reason: 'needs a role of: admin, developer' }],
      );
      // `verified_by` says that it was the password, and neither a field nor a text has one.
      assert.doesNotMatch(text, /password\w*":|sk_test_|argon2/);
      assert.ok(!text.includes(PASSWORD));
    });
  });
});

describe('the public API with a session', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const READS = ['/v1/api/balance', '/v1/api/collections'];

  it('is readable in every role', async () => {
    for (const role of ROLES) {
      const browser = await logInAs(testEnv, testEnv.merchant.id, role);
      for (const path of READS) assert.equal((await browser.call('GET', path)).status, 200, `${role} ${path}`);
    }
  });

  it('is writable by makers and owners, and records who wrote', async () => {
    for (const role of ROLES) {
      const person = await addPerson(testEnv, testEnv.merchant.id, [role]);
      const response = await (
        await logIn(testEnv, person)
      ).call('POST', '/v1/api/collections', { json: collectionFields() });
      if (role === 'maker' || role === 'owner') {
        assert.equal(response.status, 202, response.text);
        await assertAudited(testEnv, response, {
          action: 'collection.created',
          user_id: person.id,
          subject_id: String(response.json['id']),
        });
      } else {
        await assertDenied(testEnv, response, { action: 'POST /v1/api/collections', user_id: person.id });
      }
    }
  });

  it('shows only data of the merchant of the session', async () => {
    const stranger = await testEnv.addMerchant();
    const created = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: stranger.key,
      json: collectionFields(),
    });
    const viewer = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    assertError(await viewer.call('GET', `/v1/api/collections/${String(created.json['id'])}`), 'collection_not_found');
    const own = await logInAs(testEnv, stranger.id, 'viewer');
    assert.equal((await own.call('GET', `/v1/api/collections/${String(created.json['id'])}`)).status, 200);
  });

  it('refuses writes from another site’s page', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'maker');
    for (const headers of [{ origin: 'https://evil.example' }, { 'malipo-console': '' }]) {
      assertError(
        await browser.call('POST', '/v1/api/collections', { json: collectionFields(), headers }),
        'permission_denied',
      );
    }
  });

  it('uses the key if there is one, and otherwise the cookie', async () => {
    const { cookie } = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const stranger = await testEnv.addMerchant('KES');
    const read = (headers: Record<string, string>) => call(testEnv.baseUrl, 'GET', '/v1/api/balance', { headers });
    const both = await read({ cookie, authorization: `Bearer ${stranger.key}` });
    assert.equal(both.json['currency'], 'KES');
    assertError(await read({ cookie, authorization: 'Bearer nothing' }), 'api_key_invalid');
    assertNotAuthenticated(await read({ cookie: 'malipo_session=' + 'A'.repeat(43) }));
    assertError(await read({ cookie: 'other=1' }), 'api_key_missing');
  });

  it('returns the stored response to a repeated request of a person, as to one of a key', async () => {
    const browser = await logInAs(testEnv, testEnv.merchant.id, 'maker');
    const request = { json: collectionFields(), idempotencyKey: 'order-1042' };
    const first = await browser.call('POST', '/v1/api/collections', request);
    const again = await browser.call('POST', '/v1/api/collections', request);
    assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [first.text, 'true']);
    assert.deepEqual(await auditRows(testEnv, again), [], 'nothing was done');
  });
});
