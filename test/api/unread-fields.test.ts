// A route refuses what it does not read: fields of a body, media types, and parameters of the query.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { call, type CallOptions } from '../support/api.ts';
import { openApiOf } from '../support/openapi-check.ts';
import { balanceOf, fund, requestPayout } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { exchange } from './raw-http.ts';
import { API_ONLY, assertError, issuesOf } from './responses.ts';

const JSON_TYPE = 'application/json';

type Parameter = { readonly name: string; readonly in: string; readonly required?: boolean };
type Operation = { readonly method: string; readonly path: string; readonly isIdempotent: boolean };

describe('a route that takes no body', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let owner: Browser;
  let operations: Operation[];
  before(async () => {
    owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    await fund(testEnv, testEnv.merchant, 50_000);
    const { paths } = await openApiOf(testEnv.baseUrl);
    operations = Object.entries(paths)
      .filter(([path]) => path.startsWith('/v1/api') || path.startsWith('/v1/console'))
      .flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, operation]) => {
          const { requestBody, parameters = [] } = operation as { requestBody?: object; parameters?: Parameter[] };
          const isIdempotent = parameters.some(({ name }) => name === 'Idempotency-Key');
          // What is wrong with the query comes first.
          const needsQuery = parameters.some((one) => one.in === 'query' && one.required === true);
          return requestBody || needsQuery ? [] : [{ method: method.toUpperCase(), path, isIdempotent }];
        }),
      );
  });

  /** A request with whatever body the method has by other clients than ours. */
  async function send({ method, path, isIdempotent }: Operation, type: string | null, body: string): Promise<string> {
    const lines = [
      `${method} ${path.replace('{id}', 'none')} HTTP/1.1`,
      'Host: x',
      `Cookie: ${owner.cookie}`,
      `Origin: ${testEnv.baseUrl}`,
      'Malipo-Console: 1',
      'Connection: close',
      ...(isIdempotent ? [`Idempotency-Key: ${randomUUID()}`] : []),
      ...(type === null ? [] : [`Content-Type: ${type}`]),
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    return exchange(testEnv.baseUrl, `${lines.join('\r\n')}\r\n\r\n${body}`);
  }
  const outcome = (text: string) => `${text.slice(9, 12)} ${/"code":"([a-z_]+)"/.exec(text)?.[1] ?? ''}`;

  it('refuses every field of one, whatever the route and the method', async () => {
    assert.ok(operations.length > 50, `${operations.length}`);
    for (const operation of operations) {
      const where = `${operation.method} ${operation.path}`;
      assert.equal(outcome(await send(operation, JSON_TYPE, '{"amount":1}')), '400 parameter_unknown', where);
    }
  });

  it('refuses an unreadable body', async () => {
    const samples = operations.filter(({ path }) => /\/(release|reversal|cancel|session|balance)$/.test(path));
    assert.ok(samples.length >= 6);
    for (const operation of samples) {
      const where = `${operation.method} ${operation.path}`;
      const got = [
        await send(operation, JSON_TYPE, '{"amount":'),
        await send(operation, JSON_TYPE, '[]'),
        await send(operation, 'text/xml', '<amount>1</amount>'),
        await send(operation, null, '{}'),
        await send(operation, `${JSON_TYPE}; charset=utf-16`, '{}'),
        await send(operation, JSON_TYPE, `{"a":"${'x'.repeat(200_000)}"}`),
        await send(operation, 'application/x-www-form-urlencoded', 'amount=1'),
      ].map(outcome);
      const expected = [
        ...['400 body_malformed', '400 body_malformed'],
        ...['415 media_type_unsupported', '415 media_type_unsupported', '415 media_type_unsupported'],
        ...['413 body_too_large', '400 parameter_unknown'],
      ];
      assert.deepEqual(got, expected, where);
    }
  });

  it('responds as usual to an empty body, to an object without fields and to no body', async () => {
    const fields: readonly CallOptions[] = [
      {},
      { json: {} },
      { raw: { type: JSON_TYPE, body: '' } },
      { raw: { type: '', body: '' } },
      { raw: { type: 'application/x-www-form-urlencoded', body: '' } },
    ];
    for (const options of fields) {
      const checkout = { json: { amount: 1000, reference: 'INV-1' }, idempotencyKey: randomUUID() };
      const { json } = await owner.call('POST', '/v1/console/checkouts', checkout);
      const { status, text } = await owner.call('DELETE', `/v1/console/checkouts/${String(json['id'])}`, options);
      assert.equal(status, 200, text);
    }
    const chunked = `GET /v1/api/balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${testEnv.merchant.key}\r\nConnection: close\r\n`;
    const text = await exchange(testEnv.baseUrl, `${chunked}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
    assert.equal(outcome(text), '200 ');
  });

  it('replays no response to the same key with another body, and releases nothing for one', async () => {
    const payout = await requestPayout(testEnv, '000');
    const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    const idempotencyKey = randomUUID();
    const path = `/v1/console/payouts/${payout.id}/release`;
    const before = await balanceOf(testEnv, testEnv.merchant);
    assertError(await approver.call('POST', path, { idempotencyKey, json: { amount: 1 } }), 'parameter_unknown');
    assert.deepEqual(await balanceOf(testEnv, testEnv.merchant), before);
    assert.equal((await approver.call('POST', path, { idempotencyKey })).status, 200);
    assertError(await approver.call('POST', path, { idempotencyKey, json: { amount: 2 } }), 'parameter_unknown');
    const again = await approver.call('POST', path, { idempotencyKey, json: {} });
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true']);
  });

  it('refuses parameters of the query, as it does fields', async () => {
    const withoutQuery = operations.filter(({ method, path }) => method !== 'GET' && path.includes('{id}'));
    assert.ok(withoutQuery.length > 10);
    for (const { method, path } of withoutQuery) {
      const target = `${path.replace('{id}', 'none')}?amount=1`;
      const response = await owner.call(method, target, { idempotencyKey: randomUUID() });
      assert.deepEqual(issuesOf(response), ['amount parameter_unknown'], `${method} ${path}`);
    }
  });
});

describe('a body', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const FIELDS = { phone: '256772000100', amount: 5000, reference: 'INV-1' };

  it('is read in UTF-8 alone, whichever way its header names that', async () => {
    const create = (type: string, body: string | Buffer) =>
      call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key: testEnv.merchant.key, raw: { type, body } });
    const json = JSON.stringify(FIELDS);
    const form = new URLSearchParams({ ...FIELDS, amount: '5000' }).toString();
    for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'utf8']) {
      assert.equal((await create(`${JSON_TYPE};charset=${charset}`, json)).status, 202, charset);
      const type = `application/x-www-form-urlencoded; boundary=x; charset=${charset}`;
      assert.equal((await create(type, form)).status, 202, charset);
    }
    for (const charset of ['utf-16', 'utf-16le', 'iso-8859-1', '"utf-16"', 'utf-8; charset=utf-16', '', 'utf-7']) {
      assertError(await create(`${JSON_TYPE}; charset=${charset}`, json), 'media_type_unsupported');
      const type = `application/x-www-form-urlencoded; Charset=${charset}`;
      assertError(await create(type, form), 'media_type_unsupported');
    }
    const utf16 = await create(`${JSON_TYPE}; charset=utf-16le`, Buffer.from(json, 'utf16le'));
    assertError(utf16, 'media_type_unsupported');
  });
});
