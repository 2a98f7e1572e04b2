// API keys in the console: created, listed, rolled with overlap and revoked; by whom, for how long, and who counts as their maker.
import assert from 'node:assert/strict';
import { newId, type UserId } from '../../../src/domain/ids.ts';
import { findApiKeyByHash } from '../../../src/db/accounts/api-key.ts';
import { hashApiKey } from '../../../src/security/api-key.ts';
import { call } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, logInAs, logIn } from '../../support/people.ts';
import { assertAudited } from '../../support/audit-rows.ts';
import type { Browser } from '../../support/browser.ts';
import { tamper } from '../../db/rows.ts';
import { API_ONLY, assertError, issuesOf, assertDenied } from '../responses.ts';
import { attestAll, rewrite } from '../../support/attestation.ts';

const KEYS = '/v1/console/keys';
const DAY_SECONDS = 86_400;
const DAY_MS = DAY_SECONDS * 1000;

describe('API keys in the console', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let admin: Browser;
  let adminId: UserId;
  let adminEmail: string;
  before(async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['admin']);
    adminId = person.id;
    adminEmail = person.email;
    admin = await logIn(testEnv, person);
  });

  const create = (browser: Browser, fields: Record<string, unknown> = {}) =>
    browser.call('POST', KEYS, { json: { name: 'Server', scopes: ['balance:read'], ...fields } });
  const roll = (browser: Browser, id: unknown, json: object = {}) =>
    browser.call('POST', `${KEYS}/${String(id)}/roll`, { json });
  const listedOf = async (browser: Browser, index: number) => {
    const { data } = (await browser.call('GET', `${KEYS}?limit=100`)).json as unknown as {
      data: { id: string; state: string; replaced_by: string | null }[];
    };
    return data.filter(({ state, replaced_by: next }) => state === 'active' && next === null)[index]!.id;
  };
  const use = (key: unknown) => call(testEnv.baseUrl, 'GET', '/v1/api/balance', { key: String(key) });
  const listed = async (id: unknown) => {
    const { data } = (await admin.call('GET', `${KEYS}?limit=100`)).json as unknown as {
      data: Record<string, unknown>[];
    };
    return data.find((key) => key['id'] === id);
  };

  it('are created, shown once, and work', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const response = await create(admin, { scopes: ['balance:read', 'payouts:write'], expires_at: expiresAt });
    assert.equal(response.status, 201, response.text);
    const key = String(response.json['key']);
    assert.equal((await use(key)).status, 200);
    const { key: shownKey, ...shown } = response.json;
    assert.equal(shownKey, key);
    assert.deepEqual(shown, {
      id: shown['id'],
      name: 'Server',
      scopes: ['balance:read', 'payouts:write'],
      allowed_addresses: null,
      hint: `sk_test_…${key.slice(-4)}`,
      created_by: { id: adminId, name: 'The admin', email: adminEmail },
      created_at: response.json['created_at'],
      last_used_at: null,
      expires_at: expiresAt,
      revoked_at: null,
      state: 'active',
      replaced_by: null,
    });
    const seen = await listed(response.json['id']);
    assert.ok(seen?.['last_used_at']);
    assert.deepEqual({ ...seen, last_used_at: null }, shown);
    const row = await assertAudited(testEnv, response, {
      action: 'api_key.created',
      subject_id: String(response.json['id']),
      user_id: adminId,
    });
    assert.ok(!JSON.stringify(row).includes(key));
  });

  it('are created from forms too, with one scope or several', async () => {
    const one = await admin.call('POST', KEYS, { form: { name: 'One', scopes: 'balance:read' } });
    assert.deepEqual([one.status, one.json['scopes']], [201, ['balance:read']]);
    const form = new URLSearchParams([
      ['name', 'Two'],
      ['scopes', 'balance:read'],
      ['scopes', 'payouts:read'],
    ]);
    assert.deepEqual((await admin.call('POST', KEYS, { form })).json['scopes'], ['balance:read', 'payouts:read']);
  });

  it('are refused with every problem named', async () => {
    const wrong = await create(admin, { name: ' ', scopes: ['money:all'], expires_at: 'soon', colour: 'red' });
    assertError(wrong, 'parameter_invalid');
    assert.deepEqual(issuesOf(wrong).sort(), [
      'colour parameter_unknown',
      'expires_at parameter_invalid',
      'name parameter_invalid',
      'scopes.0 parameter_invalid',
    ]);
    for (const fields of [
      { scopes: [] },
      { scopes: ['balance:read', 'balance:read'] },
      { expires_at: new Date(0).toISOString() },
    ]) {
      assertError(await create(admin, fields), 'parameter_invalid');
    }
    assertError(await admin.call('POST', KEYS, { json: {} }), 'parameter_missing');
  });

  it('cannot be created, rolled or revoked by developers when they move money out', async () => {
    const developer = await logInAs(testEnv, testEnv.merchant.id, 'developer');
    assert.equal((await create(developer)).status, 201);
    const { id } = (await create(admin, { scopes: ['payouts:write'] })).json;
    for (const response of [
      await create(developer, { scopes: ['balance:read', 'payouts:write'] }),
      await roll(developer, id),
      await developer.call('DELETE', `${KEYS}/${String(id)}`),
    ]) {
      await assertDenied(testEnv, response);
    }
    assert.equal((await listed(id))?.['state'], 'active');
  });

  it('are limited to a hundred active ones', async () => {
    const crowded = await testEnv.addMerchant();
    const owner = await logInAs(testEnv, crowded.id, 'owner');
    await rewrite(
      testEnv.db,
      `INSERT INTO api_keys (id, merchant_id, name, environment, hint, key_sha256, scopes, created_at, revoked_at)
       SELECT 'key_' || lpad(n::text, 26, '0'), $1, 'k', 'test', 'abcd', sha256(n::text::bytea), ARRAY['balance:read'], now(),
              CASE WHEN n > 199 THEN now() END
       FROM generate_series(101, 220) AS n`,
      [crowded.id],
    );
    assertError(await create(owner), 'state_conflict');
    await rewrite(testEnv.db, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [
      `key_${'101'.padStart(26, '0')}`,
    ]);
    assert.equal((await create(owner)).status, 201);
    assertError(await create(owner), 'state_conflict');
  });

  describe('that create payouts', () => {
    const PAYS = { scopes: ['balance:read', 'payouts:write'] };
    const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
    const lifeDaysOf = ({ json }: { readonly json: Record<string, unknown> }) =>
      (Date.parse(String(json['expires_at'])) - Date.parse(String(json['created_at']))) / DAY_MS;

    it('expire after 90 days unless another time is stated, and no other key does', async () => {
      const created = await create(admin, PAYS);
      assert.equal(lifeDaysOf(created), 90, created.text);
      assert.equal((await listed(created.json['id']))?.['expires_at'], created.json['expires_at']);
      const { after } = await assertAudited(testEnv, created, { action: 'api_key.created' });
      assert.equal((after as { expires_at: string }).expires_at, created.json['expires_at']);
      assert.equal((await create(admin)).json['expires_at'], null);
    });

    it('live for at most a year, and other keys for any time', async () => {
      const expiresAt = inDays(364.9);
      assert.equal((await create(admin, { ...PAYS, expires_at: expiresAt })).json['expires_at'], expiresAt);
      const refused = await create(admin, { ...PAYS, expires_at: inDays(366) });
      assert.match(assertError(refused, 'parameter_invalid').message, /365 days/);
      assert.deepEqual(issuesOf(refused), ['expires_at parameter_invalid']);
      assert.equal((await create(admin, { expires_at: inDays(4000) })).status, 201);
    });

    it('live as long again when they are rolled, or until a stated time within a year', async () => {
      const week = (await create(admin, { ...PAYS, expires_at: inDays(7) })).json['id'];
      assertError(await roll(admin, week, { expires_at: inDays(366) }), 'parameter_invalid');
      const rolled = await roll(admin, week);
      assert.ok(Math.abs(lifeDaysOf(rolled) - 7) < 0.01, rolled.text);
      const { after } = await assertAudited(testEnv, rolled, { action: 'api_key.rolled' });
      assert.equal((after as { expires_at: string }).expires_at, rolled.json['expires_at']);
      const expiresAt = inDays(30);
      const stated = await roll(admin, rolled.json['id'], { expires_at: expiresAt });
      assert.deepEqual([stated.status, stated.json['expires_at']], [201, expiresAt]);
    });

    it('go on when they have no end from before, and get one when they are rolled', async () => {
      const { id, key } = (await create(admin, PAYS)).json;
      await tamper(testEnv.db, 'UPDATE api_keys SET expires_at = NULL WHERE id = $1', [id]);
      await attestAll(testEnv.db);
      assert.equal((await use(key)).status, 200);
      assert.equal((await listed(id))?.['expires_at'], null);
      assert.equal(lifeDaysOf(await roll(admin, id)), 90);
    });
  });

  describe('that are rolled', () => {
    it('are replaced by a new key, and stop working at once unless an overlap is requested', async () => {
      const old = (await create(admin)).json;
      const rolled = await roll(admin, old['id']);
      assert.equal(rolled.status, 201, rolled.text);
      assert.equal((await use(rolled.json['key'])).status, 200);
      assertError(await use(old['key']), 'api_key_revoked');
      const seen = await listed(old['id']);
      assert.deepEqual([seen?.['state'], seen?.['replaced_by']], ['revoked', rolled.json['id']]);
      await assertAudited(testEnv, rolled, { action: 'api_key.rolled', subject_id: String(old['id']) });
    });

    it('keep working for the requested overlap, and no longer than they would have', async () => {
      const old = (await create(admin)).json;
      await roll(admin, old['id'], { keep_old_for: DAY_SECONDS });
      assert.equal((await use(old['key'])).status, 200);
      const end = Date.parse(String((await listed(old['id']))?.['expires_at']));
      assert.ok(Math.abs(end - Date.now() - DAY_SECONDS * 1000) < 10_000);
      await rewrite(testEnv.db, 'UPDATE api_keys SET expires_at = now() WHERE id = $1', [old['id']]);
      assertError(await use(old['key']), 'api_key_expired');
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      const short = (await create(admin, { expires_at: expiresAt })).json;
      const rolled = await admin.call('POST', `${KEYS}/${String(short['id'])}/roll`, { form: { keep_old_for: '600' } });
      assert.equal(rolled.json['expires_at'], expiresAt, 'the new key ends when the old one would have');
      assert.equal((await listed(short['id']))?.['expires_at'], expiresAt);
    });

    it('overlap for 72 hours at most', async () => {
      const { id } = (await create(admin)).json;
      for (const keepOldFor of [-1, 1.5, 72 * 3600 + 1, '600']) {
        assertError(await roll(admin, id, { keep_old_for: keepOldFor }), 'parameter_invalid');
      }
      assert.equal((await roll(admin, id, { keep_old_for: 72 * 3600 })).status, 201);
    });

    it('overlap only if the limit allows both keys', async () => {
      const merchant = await testEnv.addMerchant();
      const owner = await logInAs(testEnv, merchant.id, 'owner');
      const { id } = (await create(owner)).json;
      // One short of the limit, created in a way that the limit does not apply to.
      for (let n = 0; n < 97; n++) await testEnv.addKey(merchant.id, ['balance:read']);
      const rolled = await roll(owner, id, { keep_old_for: 60 });
      assert.equal(rolled.status, 201, rolled.text);
      assertError(await create(owner), 'state_conflict');
      assertError(await roll(owner, rolled.json['id'], { keep_old_for: 60 }), 'state_conflict');
      assert.equal((await roll(owner, rolled.json['id'])).status, 201, 'one key replaces another');
      const [one, two] = [await listedOf(owner, 0), await listedOf(owner, 1)];
      await owner.call('DELETE', `${KEYS}/${two}`);
      const last = await listedOf(owner, 3);
      const both = await Promise.all([roll(owner, one, { keep_old_for: 60 }), roll(owner, last, { keep_old_for: 60 })]);
      assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409], 'one of two gets the last place');
    });

    it('are rolled once when two people roll them at once', async () => {
      const { id } = (await create(admin)).json;
      const both = await Promise.all([roll(admin, id, { keep_old_for: 60 }), roll(admin, id, { keep_old_for: 60 })]);
      assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
      assertError(await roll(admin, id), 'state_conflict');
    });

    it('cannot be rolled when they are revoked or expired', async () => {
      const revoked = (await create(admin)).json['id'];
      await admin.call('DELETE', `${KEYS}/${String(revoked)}`);
      const expired = (await create(admin)).json['id'];
      await rewrite(testEnv.db, 'UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired]);
      for (const id of [revoked, expired]) assertError(await roll(admin, id), 'state_conflict');
    });

    it('have the person who rolled them as their creator afterwards', async () => {
      const old = (await create(admin, { scopes: ['payouts:write'] })).json;
      const person = await addPerson(testEnv, testEnv.merchant.id, ['owner']);
      const rolled = (await roll(await logIn(testEnv, person), old['id'])).json;
      assert.equal((rolled['created_by'] as { id: string }).id, person.id);
      const found = await findApiKeyByHash(testEnv.db, hashApiKey(String(rolled['key'])));
      assert.equal(found?.maker, person.id);
    });
  });

  describe('that are revoked', () => {
    it('stop working at once, and a second revocation has no effect', async () => {
      const { id, key } = (await create(admin)).json;
      const revoked = await admin.call('DELETE', `${KEYS}/${String(id)}`);
      assert.deepEqual([revoked.status, revoked.json['state']], [200, 'revoked']);
      await assertAudited(testEnv, revoked, {
        action: 'api_key.revoked',
        subject_id: String(id),
        before: { revoked_at: null },
      });
      assertError(await use(key), 'api_key_revoked');
      const again = await admin.call('DELETE', `${KEYS}/${String(id)}`);
      assert.deepEqual([again.status, again.json['revoked_at']], [200, revoked.json['revoked_at']]);
    });

    it('stop working even during an overlap with their successor', async () => {
      const old = (await create(admin)).json;
      await roll(admin, old['id'], { keep_old_for: DAY_SECONDS });
      assert.equal((await admin.call('DELETE', `${KEYS}/${String(old['id'])}`)).status, 200);
      assertError(await use(old['key']), 'api_key_revoked');
    });
  });

  it('can still read, but create no payouts, after their maker was removed', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['admin']);
    const { key } = (await create(await logIn(testEnv, person), { scopes: ['balance:read', 'payouts:write'] })).json;
    const find = () => findApiKeyByHash(testEnv.db, hashApiKey(String(key)));
    assert.equal((await find())?.maker, person.id);
    const own = await logIn(testEnv, person);
    assert.equal((await own.call('DELETE', `/v1/console/members/${person.id}`)).status, 204);
    assert.equal((await find())?.maker, null);
    assert.equal((await use(key)).status, 200);
  });

  it('are listed in pages, newest first', async () => {
    const merchant = await testEnv.addMerchant();
    const owner = await logInAs(testEnv, merchant.id, 'owner');
    const created: unknown[] = [];
    for (let n = 0; n < 4; n++) created.push((await create(owner)).json['id']);
    const first = await owner.call('GET', `${KEYS}?limit=3`);
    const rest = await owner.call('GET', `${KEYS}?limit=3&cursor=${String(first.json['next_cursor'])}`);
    const ids = [first, rest].flatMap(({ json }) => (json['data'] as { id: string }[]).map(({ id }) => id));
    assert.deepEqual(ids.slice(0, 4), created.reverse());
    assert.deepEqual(
      [ids.length, first.json['has_more'], rest.json['has_more'], rest.json['next_cursor']],
      [5, true, false, null],
    );
    assertError(await owner.call('GET', `${KEYS}?cursor=abc`), 'cursor_invalid');
    assertError(await owner.call('GET', `${KEYS}?limit=0`), 'parameter_invalid');
  });

  it('are reported like unknown ones when they belong to another merchant', async () => {
    const stranger = await testEnv.addMerchant();
    const { id: foreign } = (await create(await logInAs(testEnv, stranger.id, 'owner'))).json;
    const strip = ({ text }: { text: string }) => text.replace(/req_[0-9a-z]{26}/, 'req_');
    const responses = [];
    for (const id of [foreign, newId('key'), 'key_1', '%00']) {
      responses.push(await admin.call('DELETE', `${KEYS}/${String(id)}`), await roll(admin, id));
    }
    for (const response of responses) assertError(response, 'api_key_not_found');
    assert.equal(new Set(responses.map(strip)).size, 1);
  });
});
