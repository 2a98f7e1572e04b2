// Limits of failed log-ins and step-ups: per account, per address and per session's person, counted in the database.
import assert from 'node:assert/strict';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import { retainedSince } from '../../../src/domain/retention.ts';
import { purgeExpiredRecords } from '../../../src/operations/purge-expired-records.ts';
import { call, type ApiResponse } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, codeOf, PASSWORD, enter } from '../../support/people.ts';
import { auditRows } from '../../support/audit-rows.ts';
import { API_ONLY, assertError, assertNotAuthenticated, startAnotherServer } from '../responses.ts';

const SESSION = '/v1/console/session';
const PER_ACCOUNT = 10;
const PER_ADDRESS = 50;

describe('failed log-ins', () => {
  const testEnv = useTestEnvironment({ environment: { ...API_ONLY.environment, MALIPO_TRUSTED_PROXIES: '1' } });
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  let nextAddress = 1;
  const freshAddress = () => `203.0.113.${nextAddress++}`;
  const attempt = (email: string, password: string, address = freshAddress(), baseUrl = testEnv.baseUrl) =>
    call(baseUrl, 'POST', SESSION, {
      json: { email, password },
      headers: { 'x-forwarded-for': address },
      idempotencyKey: null,
    });
  const statuses = (responses: readonly ApiResponse[]) => responses.map(({ status }) => status);

  it('are limited to ten per account in fifteen minutes, from any address; then even the right password is refused', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    for (let n = 0; n < PER_ACCOUNT; n++) assertNotAuthenticated(await attempt(person.email, 'wrong'));
    const refused = await attempt(person.email, PASSWORD);
    assertError(refused, 'rate_limited');
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds > 890 && seconds <= 900, `${seconds}`);
    const other = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    assert.equal((await attempt(other.email, PASSWORD)).status, 201);
  });

  it('are on record when they reach a limit, once an hour, where the people concerned read it', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    for (let n = 0; n < PER_ACCOUNT; n++) await attempt(person.email, 'wrong');
    const address = freshAddress();
    const flood = await Promise.all(Array.from({ length: 5 }, () => attempt(person.email, PASSWORD, address)));
    for (const refused of flood) assertError(refused, 'rate_limited');
    const rows = (await Promise.all(flood.map((refused) => auditRows(testEnv, refused)))).flat();
    assert.equal(rows.length, 1, 'a flood fills no log');
    const { request_id: requestId, ...row } = rows[0]!;
    assert.deepEqual(row, {
      user_id: person.id,
      action: 'authentication.limited',
      outcome: 'refused',
      subject_id: person.id,
      before: null,
      after: { reason: 'too many failed attempts of one account' },
      address,
    });
    const merchantOf = async (id: string | null) =>
      (
        await testEnv.db.pool.query<{ merchant_id: string | null }>(
          'SELECT merchant_id FROM audit_entries WHERE request_id = $1',
          [id],
        )
      ).rows[0]!.merchant_id;
    assert.equal(await merchantOf(requestId), testEnv.merchant.id);
    await testEnv.db.pool.query(`UPDATE attempt_counters SET window_ends_at = now() WHERE subject ~ '^refusal/'`);
    assert.equal((await auditRows(testEnv, await attempt(person.email, PASSWORD))).length, 1, 'an hour later');

    for (let n = 0; n < PER_ACCOUNT; n++) await attempt('nobody@shop.example', 'x');
    const [unknown] = await auditRows(testEnv, await attempt('nobody@shop.example', 'x'));
    assert.equal(unknown!.user_id, null);
    assert.equal(await merchantOf(unknown!.request_id), null);

    const shared = freshAddress();
    for (let n = 0; n < PER_ADDRESS; n++) await attempt(`nobody${n}@shop.example`, 'x', shared);
    const other = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const [anybody] = await auditRows(testEnv, await attempt(other.email, PASSWORD, shared));
    assert.deepEqual(
      [anybody!.user_id, anybody!.after, await merchantOf(anybody!.request_id)],
      [null, { reason: 'too many failed attempts of one address' }, null],
    );
  });

  it('are counted for an unknown account as for a known one', async () => {
    for (let n = 0; n < PER_ACCOUNT; n++) assertNotAuthenticated(await attempt('nobody@shop.example', 'x'));
    assertError(await attempt('Nobody@shop.example', 'x'), 'rate_limited');
  });

  it('do not exceed the limit when they come at once', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const many = await Promise.all(Array.from({ length: 25 }, () => attempt(person.email, 'wrong')));
    assert.equal(statuses(many).filter((status) => status === 401).length, PER_ACCOUNT);
    assert.equal(statuses(many).filter((status) => status === 429).length, 15);
  });

  it('are limited to fifty per address for any accounts; a right password takes back only its own attempt', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const address = freshAddress();
    for (let n = 0; n < PER_ADDRESS - 1; n++) {
      assertNotAuthenticated(await attempt(`nobody${n}@shop.example`, 'x', address));
    }
    for (let n = 0; n < 3; n++) assert.equal((await attempt(person.email, PASSWORD, address)).status, 201);
    assertNotAuthenticated(await attempt('one.more@shop.example', 'x', address));
    assertError(await attempt(person.email, PASSWORD, address), 'rate_limited');
    assert.equal((await attempt(person.email, PASSWORD)).status, 201, 'another address is free');
  });

  it('are forgotten when their window ends, and not before', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    for (let n = 0; n < PER_ACCOUNT; n++) await attempt(person.email, 'wrong');
    await testEnv.db.pool.query(
      "UPDATE attempt_counters SET window_ends_at = window_ends_at - interval '14 minutes 50 seconds'",
    );
    assertError(await attempt(person.email, PASSWORD), 'rate_limited');
    await testEnv.db.pool.query("UPDATE attempt_counters SET window_ends_at = window_ends_at - interval '10 seconds'");
    assert.equal((await attempt(person.email, PASSWORD)).status, 201);
  });

  it('are counted for all processes together, including one that starts later', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    for (let n = 0; n < PER_ACCOUNT; n++) await attempt(person.email, 'wrong');
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_TRUSTED_PROXIES: '1' });
    assertError(await attempt(person.email, PASSWORD, freshAddress(), baseUrl), 'rate_limited');
  });

  it('are limited to thirty in a day and a hundred in thirty days, however they are spread', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const endWindows = (names: string) =>
      testEnv.db.pool.query('UPDATE attempt_counters SET window_ends_at = now() WHERE subject ~ $1', [names]);
    const failUntilRefused = async () => {
      for (let n = 0; ; n++) if ((await attempt(person.email, 'wrong')).status === 429) return n;
    };
    const seconds = async () => Number((await attempt(person.email, PASSWORD)).headers.get('retry-after'));
    for (const expected of [10, 10, 10, 0]) {
      assert.equal(await failUntilRefused(), expected);
      await endWindows('^account/[0-9a-f]{64}$');
    }
    assert.ok((await seconds()) > 86_000, 'until the day has passed');
    for (const expected of [10, 10, 10, 10, 10, 10, 10, 0]) {
      await endWindows('^account/(day/)?[0-9a-f]{64}$');
      assert.equal(await failUntilRefused(), expected);
    }
    assert.ok((await seconds()) > 29 * 86_400, 'until thirty days have passed');
  });

  it('include a right password without the second factor’s code', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    for (let n = 0; n < PER_ACCOUNT; n++) assertNotAuthenticated(await attempt(person.email, PASSWORD));
    assertError(await attempt(person.email, PASSWORD), 'rate_limited');
  });

  it('do not affect the open sessions of their account, whose own attempts have a separate limit', async () => {
    const { person, browser } = await enter(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: true });
    for (let n = 0; n < PER_ACCOUNT; n++) await attempt(person.email, 'wrong');
    const attemptInSession = (path: string, json: object) => browser.call('POST', `${SESSION}/${path}`, { json });
    for (let n = 0; n < PER_ACCOUNT - 1; n++)
      assertError(await attemptInSession('step-up', { totp: '000000' }), 'permission_denied');
    assert.equal((await attemptInSession('step-up', { totp: codeOf(person.totpSecret, 1) })).status, 200);
    assertError(
      await attemptInSession('second-factor/remove', { password: 'wrong', totp: '000000' }),
      'permission_denied',
    );
    const change = { current_password: PASSWORD, new_password: 'another horse, another battery' };
    for (const [path, json] of [
      ['step-up', { totp: '000000' }],
      ['password', change],
      ['second-factor', { password: PASSWORD }],
    ] as const) {
      assertError(await attemptInSession(path, json), 'rate_limited');
    }
    const limited = "SELECT after->>'reason' AS reason FROM audit_entries WHERE user_id = $1 AND action = $2";
    const { rows } = await testEnv.db.pool.query(limited, [person.id, 'authentication.limited']);
    assert.deepEqual(rows, [{ reason: 'too many failed attempts of one person' }], 'once for all of these');
    assert.equal((await browser.call('GET', SESSION)).status, 200);
  });

  it('are purged once their windows have ended', async () => {
    await attempt('nobody@shop.example', 'x');
    const purge = (endedBefore: Date) =>
      purgeExpiredRecords(testEnv.db, {
        retainedSince: retainedSince(REAL_CLOCKS, endedBefore),
        endedBefore,
        limit: 100,
      });
    assert.equal(await purge(new Date()), 0);
    assert.equal(await purge(new Date(Date.now() + 16 * 60_000)), 2);
  });
});
