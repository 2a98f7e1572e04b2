// The request log: what came with a merchant's keys, good or not, without what it says about people.
import assert from 'node:assert/strict';
import { createRequestLog } from '../../../src/api/request-log.ts';
import type { ApiRequest } from '../../../src/domain/accounts/api-request.ts';
import { newId } from '../../../src/domain/ids.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { createLog } from '../../../src/log.ts';
import { countRows } from '../../db/rows.ts';
import { call, collectionFields, type ApiResponse } from '../../support/api.ts';
import { logInAs } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { eventually } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY } from '../responses.ts';

const PATH = '/v1/console/requests';
const COLLECTIONS = '/v1/api/collections';
const silent = createLog({ level: 'silent', process: 'test' });

describe('the request log', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let developer: Browser;

  before(async () => {
    developer = await logInAs(testEnv, testEnv.merchant.id, 'developer');
  });

  const idOf = (response: ApiResponse) => response.headers.get('malipo-request-id') ?? '';
  const send = (method: string, path: string, options: Parameters<typeof call>[3] = {}) =>
    call(testEnv.baseUrl, method, path, { key: testEnv.merchant.key, ...options });

  /** The request as it is in the log, once it is there. */
  const logged = (response: ApiResponse) =>
    eventually('the request in the log', async () => {
      const found = await developer.call('GET', `${PATH}/${idOf(response)}`);
      return found.status === 200 ? found.json : null;
    });
  const idsOf = async (query: string) =>
    ((await developer.call('GET', `${PATH}${query}`)).json['data'] as { id: string }[]).map(({ id }) => id);

  it('has the request of a key, its response, the payment, and whether it was a repeat', async () => {
    const options = { idempotencyKey: `order-${newId('req')}`, json: collectionFields() };
    const created = await send('POST', COLLECTIONS, options);
    const repeated = await send('POST', COLLECTIONS, options);
    const request = await logged(created);
    const { address, duration_ms: durationMs, api_key: key, created_at: at, ...rest } = request;
    assert.deepEqual(rest, {
      ...{ id: idOf(created), method: 'POST', route: COLLECTIONS, path: COLLECTIONS, status: 202, error_code: null },
      ...{ idempotency_key: options.idempotencyKey, is_repeat: false, object_id: created.json['id'] },
    });
    assert.ok(address === '127.0.0.1' && typeof durationMs === 'number' && key !== null && at !== null);
    const again = await logged(repeated);
    assert.deepEqual([again['is_repeat'], again['object_id']], [true, created.json['id']]);
    assert.deepEqual(await idsOf(`?object=${String(created.json['id'])}`), [idOf(repeated), idOf(created)]);
  });

  it('has refusals with their codes, of a key without the scope too, and finds them by class and route', async () => {
    const invalid = await send('POST', COLLECTIONS, { json: { amount: 'much' } });
    const unknown = await send('GET', `${COLLECTIONS}/${newId('col')}`);
    await send('GET', '/v1/api/balance');
    assert.equal((await logged(invalid))['error_code'], 'parameter_missing');
    const { route, path, error_code: code } = await logged(unknown);
    assert.deepEqual([route, code], [`${COLLECTIONS}/{id}`, 'collection_not_found']);
    assert.ok(String(path).startsWith(`${COLLECTIONS}/col_`));
    assert.deepEqual((await idsOf('?status=4xx')).slice(0, 2), [idOf(unknown), idOf(invalid)]);
    assert.deepEqual(await idsOf(`?status=4xx&method=POST&route=${COLLECTIONS}`), [idOf(invalid)]);
    assert.deepEqual(await idsOf(`?key=${newId('key')}`), []);
    const { json: made } = await developer.call('POST', '/v1/console/keys', {
      json: { name: 'Reports', scopes: ['balance:read'] },
    });
    const refused = await send('GET', COLLECTIONS, { key: String(made['key']) });
    assert.equal((await logged(refused))['error_code'], 'insufficient_scope');
    assert.deepEqual(await idsOf(`?key=${String(made['id'])}`), [idOf(refused)]);
  });

  it('has no phone number, and no requests of unknown keys or of sessions', async () => {
    const { rows: before } = await testEnv.db.pool.query('SELECT id FROM api_requests');
    const listed = await send('GET', `${COLLECTIONS}?phone=256772000123`);
    const posted = await send('POST', COLLECTIONS, { json: collectionFields({ phone: '256772000123' }) });
    const nobody = await send('GET', COLLECTIONS, { key: `${testEnv.merchant.key.slice(0, -2)}zz` });
    const person = await developer.call('GET', '/v1/api/balance');
    await logged(listed);
    await logged(posted);
    const { rows } = await testEnv.db.pool.query<{ text: string }>(
      'SELECT row_to_json(r)::text AS text FROM api_requests r',
    );
    assert.equal(rows.length, before.length + 2);
    for (const { text } of rows) {
      assert.ok(!text.includes('256772'), text);
      for (const response of [nobody, person]) assert.ok(!text.includes(idOf(response)));
    }
  });

  it('shows nothing to a viewer, and no request of another merchant', async () => {
    const other = await testEnv.addMerchant();
    const theirs = await send('GET', '/v1/api/balance', { key: other.key });
    await eventually('their request in the log', () =>
      countRows(testEnv.db, 'api_requests WHERE id = $1', [idOf(theirs)]).then((count) => count === 1),
    );
    assert.equal((await developer.call('GET', `${PATH}/${idOf(theirs)}`)).json.error?.code, 'request_not_found');
    const viewer = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    assert.equal((await viewer.call('GET', PATH)).status, 403);
  });

  const request: ApiRequest = {
    ...{ id: newId('req'), merchantId: newId('mer'), apiKeyId: newId('key'), method: 'GET', route: '/', path: '/' },
    ...{ status: 200, errorCode: null, durationMs: 1, address: null, idempotencyKey: null, isRepeat: false },
    ...{ objectId: null, createdAt: new Date() },
  };

  it('omits and counts requests beyond its capacity, or that cannot be recorded', async () => {
    const away = { run: () => Promise.reject(new Error('the database is unavailable')) } as unknown as Database;
    const log = createRequestLog({ db: away, log: silent, flushEveryMs: 60_000, maxWaiting: 3 });
    for (let i = 0; i < 5; i++) log.note(request);
    assert.equal(log.lost(), 2);
    await log.close();
    assert.equal(log.lost(), 5);
  });

  it('is written a hundred requests at a time, and tries a database that is unavailable once when the process stops', async () => {
    const ended: ((error: Error) => void)[] = [];
    const away = { run: () => new Promise((_resolve, reject) => ended.push(reject)) } as unknown as Database;
    const log = createRequestLog({ db: away, log: silent, flushEveryMs: 60_000 });
    for (let i = 0; i < 99; i++) log.note(request);
    assert.equal(ended.length, 0);
    for (let i = 0; i < 400; i++) log.note(request);
    assert.equal(ended.length, 1, 'one write at a time');
    const closed = log.close();
    ended[0]?.(new Error('the database is unavailable'));
    await closed;
    assert.deepEqual([ended.length, log.lost()], [1, 499]);
  });

  it('has the requests noted before the process stopped', async () => {
    const log = createRequestLog({ db: testEnv.db, log: silent, flushEveryMs: 60_000 });
    log.note(request);
    await log.close();
    assert.equal(await countRows(testEnv.db, 'api_requests WHERE id = $1', [request.id]), 1);
    assert.equal(log.lost(), 0);
  });
});
