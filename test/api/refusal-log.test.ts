// The log of requests that try to get round a control: their kind and source, in a bounded number of lines.
import assert from 'node:assert/strict';
import { createRefusalLog, isAttempt } from '../../src/api/refusal-log.ts';
import { DomainError, ERROR_CODES, errorCategory } from '../../src/domain/errors.ts';
import { newId } from '../../src/domain/ids.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { call, collectionFields, type ApiResponse } from '../support/api.ts';
import { collectedLog } from '../support/log-lines.ts';
import { logInAs } from '../support/people.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY } from './responses.ts';

describe('the log of refused requests', () => {
  const refusal = (code: 'api_key_invalid' | 'permission_denied') =>
    new DomainError(code, 'No.', { reason: 'because' });
  const request = { requestId: 'req_1', method: 'GET', route: '/v1/api/balance', merchantId: undefined };

  it('has one line a minute for each code and client, and says how many it left out', () => {
    const { lines, log } = collectedLog();
    let nowMs = 0;
    const write = createRefusalLog(log, () => nowMs);
    for (let n = 0; n < 1000; n++) write(refusal('api_key_invalid'), { ...request, network: '203.0.113.1' });
    write(refusal('permission_denied'), { ...request, network: '203.0.113.1' });
    nowMs = 60_000;
    write(refusal('api_key_invalid'), { ...request, network: '203.0.113.1' });
    assert.deepEqual(
      lines.map(({ level, code, address, leftOut }) => ({ level, code, address, leftOut })),
      [
        { level: 'warn', code: 'api_key_invalid', address: '203.0.113.1', leftOut: 0 },
        { level: 'warn', code: 'permission_denied', address: '203.0.113.1', leftOut: 999 },
        { level: 'warn', code: 'api_key_invalid', address: '203.0.113.1', leftOut: 0 },
      ],
    );
  });

  it('has at most ten lines of a code a minute, however many clients there are, and lines of other codes', () => {
    const { lines, log } = collectedLog();
    const write = createRefusalLog(log, () => 0);
    for (let n = 0; n < 5000; n++) write(refusal('api_key_invalid'), { ...request, network: `2001:db8:0:${n}::/64` });
    write(refusal('permission_denied'), { ...request, network: '203.0.113.1' });
    assert.equal(lines.length, 11);
    assert.deepEqual([lines[10]!['code'], lines[10]!['leftOut']], ['permission_denied', 4990]);
  });

  it('omits harmless refusals: mistakes, conflicts, and callers without credentials', () => {
    const left = ERROR_CODES.filter((code) => !isAttempt({ code, category: errorCategory(code), reason: undefined }));
    assert.deepEqual(left, [
      'api_key_missing',
      'parameter_missing',
      'phone_invalid',
      'phone_unsupported',
      'amount_out_of_bounds',
      'route_not_found',
      'method_not_allowed',
      'idempotency_key_missing',
      'idempotency_key_invalid',
      'idempotency_key_reused',
      'idempotency_key_in_flight',
      'balance_insufficient',
      'state_conflict',
      'internal_error',
      'service_unavailable',
    ]);
  });
});

describe('an attempt to get round a control', () => {
  const testEnv = useTestEnvironment({ ...API_ONLY, startsServer: false });
  const { lines, log } = collectedLog();
  let baseUrl = '';
  before(async () => {
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port}`;
    const settings = {
      MALIPO_HTTP_PORT: String(port),
      MALIPO_PUBLIC_URL: baseUrl,
      MALIPO_REFUSED_KEYS_PER_ADDRESS: '2',
    };
    await testEnv.startServer(settings, { log });
  });
  const lineOf = (response: ApiResponse) =>
    lines.find(
      ({ msg, requestId }) =>
        msg === 'a request was refused' && requestId === response.headers.get('malipo-request-id'),
    );

  it('is logged with its code, reason, route and address, and with nothing personal or secret', async () => {
    const browser = await logInAs({ ...testEnv, baseUrl }, testEnv.merchant.id, 'viewer');
    const other = await testEnv.addMerchant();
    const theirs = await call(baseUrl, 'POST', '/v1/api/collections', { key: other.key, json: collectionFields() });
    assert.equal(theirs.status, 202, theirs.text);
    const path = `/v1/api/collections/${String(theirs.json['id'])}`;
    const { key } = testEnv.merchant;
    const attempts: readonly (readonly [ApiResponse, Readonly<Record<string, unknown>>])[] = [
      [
        await browser.call('POST', '/v1/console/keys', { headers: { origin: 'https://evil.example' }, json: {} }),
        { code: 'permission_denied', reason: 'not from our own pages', route: '/v1/console/keys' },
      ],
      [
        await call(baseUrl, 'GET', path, { key }),
        { code: 'collection_not_found', route: '/v1/api/collections/:id', merchantId: testEnv.merchant.id },
      ],
      [
        await call(baseUrl, 'POST', '/operators/mtn-momo/callbacks', { json: { financialTransactionId: 'x' } }),
        { code: 'body_malformed', route: '/operators/mtn-momo/callbacks' },
      ],
      [
        await call(baseUrl, 'POST', '/v1/api/collections', {
          key,
          json: { ...collectionFields(), state: 'succeeded' },
        }),
        { code: 'parameter_unknown', merchantId: testEnv.merchant.id },
      ],
      [await call(baseUrl, 'GET', '/v1/api/balance', { key: 'sk_test_wrong' }), { code: 'api_key_invalid' }],
    ];
    await call(baseUrl, 'GET', '/v1/api/balance', { key: 'sk_test_wrong' });
    const limited = await call(baseUrl, 'GET', '/v1/api/balance', { key: 'sk_test_wrong' });
    for (const [response, expected] of [...attempts, [limited, { code: 'rate_limited' }] as const]) {
      const line = lineOf(response);
      assert.ok(line, `${response.status} ${response.text}`);
      assert.deepEqual([line.level, line['address']], ['warn', '127.0.0.1']);
      for (const [name, value] of Object.entries(expected)) assert.equal(line[name], value, name);
    }
    const text = JSON.stringify(lines);
    for (const part of [collectionFields()['phone'], browser.cookie.split('=')[1], key]) {
      assert.ok(!text.includes(String(part)), String(part));
    }
    const id = String(theirs.json['id']);
    const ofTheirs = lines.filter((line) => JSON.stringify(line).includes(id));
    assert.ok(
      ofTheirs.length > 0 && ofTheirs.every(({ merchantId }) => merchantId === other.id),
      JSON.stringify(ofTheirs),
    );
  });

  it('is not counted for a caller who merely arrives', async () => {
    for (const response of [
      await call(baseUrl, 'GET', '/v1/console/session'),
      await call(baseUrl, 'GET', '/v1/api/balance'),
      await call(baseUrl, 'GET', `/${newId('req')}`),
    ]) {
      assert.ok(response.status >= 400);
      assert.equal(lineOf(response), undefined, response.text);
    }
  });
});
