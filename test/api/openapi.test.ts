// The OpenAPI document: valid, and the truth about the routes, both ways.
import assert from 'node:assert/strict';
import { createApp } from '../../src/api/app.ts';
import type { ApiDeps } from '../../src/api/context.ts';
import { HTTP_STATUS } from '../../src/api/errors.ts';
import { ERROR_CODES, errorCategory } from '../../src/domain/errors.ts';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { call } from '../support/api.ts';
import { openApiOf } from '../support/openapi-check.ts';
import { API_ONLY, assertError } from './responses.ts';
import { assertValidDocument, operationsOf, type OpenApiDocument } from './openapi-structure.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

describe('the OpenAPI document', () => {
  let testEnv: TestEnvironment;
  let document: OpenApiDocument;

  before(async () => {
    testEnv = await startTestEnvironment(API_ONLY);
    document = (await openApiOf(testEnv.baseUrl)) as unknown as OpenApiDocument;
  });
  after(() => testEnv.stop());

  const reach = (method: string, path: string) =>
    call(testEnv.baseUrl, method, path.replace('{id}', 'col_1'), { idempotencyKey: null });

  it('is served as JSON, to anybody', async () => {
    const response = await call(testEnv.baseUrl, 'GET', '/v1/openapi.json');
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(response.json, document);
  });

  it('is a valid one of version 3.1', () => {
    assertValidDocument(document);
  });

  it('names the address where the service is', () => {
    assert.deepEqual(document.servers, [{ url: testEnv.baseUrl }]);
  });

  it('has the seven public routes of the interface document, and no other', () => {
    const publicRoutes = operationsOf(document)
      .filter(({ path }) => path.startsWith('/v1/api/'))
      .map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(publicRoutes.sort(), [
      'GET /v1/api/balance',
      'GET /v1/api/collections',
      'GET /v1/api/collections/{id}',
      'GET /v1/api/payouts',
      'GET /v1/api/payouts/{id}',
      'POST /v1/api/collections',
      'POST /v1/api/payouts',
    ]);
  });

  it('has no operation that is not routed, and misses none that is', async () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      const documented = Object.keys(operations).map((method) => method.toUpperCase());
      for (const method of METHODS) {
        const response = await reach(method, path);
        if (documented.includes(method)) assert.ok(![404, 405].includes(response.status), `${method} ${path}`);
        else assertError(response, 'method_not_allowed');
      }
    }
  });

  it('says what 405 says of the methods', async () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      const documented = Object.keys(operations).map((method) => method.toUpperCase());
      const { headers } = await reach('OPTIONS', path);
      const allowed = documented.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      assert.deepEqual(headers.get('allow')?.split(', ').sort(), allowed.sort(), path);
    }
  });

  it('has every route of the router itself', () => {
    const routed = routesOfRouter()
      .flatMap(({ methods, path }) =>
        methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${path}`),
      )
      .map((route) => route.replace(/:(\w+)/g, '{$1}'));
    const documented = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(routed.sort(), documented.sort());
  });

  it('names for every operation the errors that can be met anywhere', () => {
    for (const { method, path, operation } of operationsOf(document)) {
      for (const status of ['429', '500', '503']) {
        assert.ok(operation.responses[status], `${method} ${path} ${status}`);
      }
    }
  });

  it('names for every operation behind a key or a session what each is refused with', () => {
    for (const { operation } of operationsOf(document).filter(({ path }) => path.startsWith('/v1/api/'))) {
      assert.match(operation.responses['401']?.description ?? '', /api_key_missing.*api_key_revoked/);
      assert.match(operation.responses['403']?.description ?? '', /insufficient_scope.*permission_denied/);
      assert.equal(operation.security, undefined, 'the security of the whole document counts');
    }
    assert.deepEqual(document.security, [{ apiKey: [] }, { consoleSession: [] }]);
  });

  it('asks a session of every route of the console, but for those that come before one', () => {
    const operations = operationsOf(document).filter(({ path }) => path.startsWith('/v1/console/'));
    assert.ok(operations.length > 20);
    for (const { method, path, operation } of operations) {
      const where = `${method} ${path}`;
      assert.match(operation.tags.join(), /^Console /, where);
      assert.match(operation.responses['403']?.description ?? '', /permission_denied/, where);
      const isBefore = /^POST .*\/(session|recovery|invitations\/accept)$/.test(where);
      assert.deepEqual(operation.security, isBefore ? [] : [{ consoleSession: [] }], where);
    }
    assert.deepEqual(
      { ...document.components.securitySchemes['consoleSession'], description: '' },
      { type: 'apiKey', in: 'cookie', name: 'malipo_session', description: '' },
    );
  });

  it('names every error code under its own status, somewhere', () => {
    const texts = new Map<string, string>();
    for (const { operation } of operationsOf(document)) {
      for (const [status, { description }] of Object.entries(operation.responses)) {
        texts.set(status, `${texts.get(status) ?? ''} ${description}`);
      }
    }
    for (const code of ERROR_CODES) {
      // Of routes that are still to come.
      if (['payout_not_found', 'balance_insufficient', 'approval_self'].includes(code)) continue;
      // These two are of no operation: they are what is said where there is none.
      if (code === 'route_not_found' || code === 'method_not_allowed') continue;
      assert.ok(texts.get(String(HTTP_STATUS[errorCategory(code)]))?.includes(`\`${code}\``), code);
    }
  });

  it('says of a creation that it takes JSON and forms, and wants a key of idempotency', () => {
    const create = document.paths['/v1/api/collections']!['post']!;
    assert.deepEqual(Object.keys(create.requestBody!.content), [
      'application/json',
      'application/x-www-form-urlencoded',
    ]);
    const header = create.parameters?.find((parameter) => parameter.in === 'header');
    assert.deepEqual([header?.name, header?.required], ['Idempotency-Key', true]);
  });
});

/** What the router has, asked of the router. Nothing is called: what the routes need is not needed. */
function routesOfRouter(): { methods: string[]; path: string }[] {
  const nothing = {
    publicUrl: 'http://127.0.0.1',
    trustedProxies: 0,
    rateLimitPerSecond: 0,
    operatorRateLimitPerSecond: 0,
  } as ApiDeps;
  const { middleware } = createApp(nothing).app;
  const router = middleware.map(
    (layer) => (layer as { router?: { stack: { methods: string[]; path: string }[] } }).router,
  );
  return router.find((candidate) => candidate !== undefined)?.stack ?? [];
}
