// The OpenAPI document: it is valid, and it documents exactly the routes that the server has.
import assert from 'node:assert/strict';
import { HTTP_STATUS } from '../../src/api/errors.ts';
import { ERROR_CODES, errorCategory } from '../../src/domain/errors.ts';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { apiRoutes } from '../../tools/api-routes.ts';
import { call } from '../support/api.ts';
import { openApiOf } from '../support/openapi-check.ts';
import { API_ONLY, assertError } from './responses.ts';
import {
  assertValidDocument,
  operationsOf,
  validatorOf,
  webhooksOf,
  type OpenApiDocument,
} from './openapi-structure.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

describe('the OpenAPI document', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let document: OpenApiDocument;

  before(async () => {
    document = (await openApiOf(testEnv.baseUrl)) as unknown as OpenApiDocument;
  });

  const callRoute = (method: string, path: string) =>
    call(testEnv.baseUrl, method, path.replace('{id}', 'col_1'), { idempotencyKey: null });

  it('is served as JSON without authentication', async () => {
    const response = await call(testEnv.baseUrl, 'GET', '/v1/openapi.json');
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(response.json, document);
  });

  it('is valid OpenAPI 3.1', () => {
    assertValidDocument(document);
  });

  it('names the public URL of the service as its server', () => {
    assert.deepEqual(document.servers, [{ url: testEnv.baseUrl }]);
  });

  it('lists exactly the seven public routes of the interface document', () => {
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

  it('documents exactly the methods that the server accepts on each path', async () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      const documented = Object.keys(operations).map((method) => method.toUpperCase());
      for (const method of METHODS) {
        const response = await callRoute(method, path);
        if (documented.includes(method)) assert.ok(![404, 405].includes(response.status), `${method} ${path}`);
        else assertError(response, 'method_not_allowed');
      }
    }
  });

  it('agrees with the Allow header of a 405 about the methods of each path', async () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      const documented = Object.keys(operations).map((method) => method.toUpperCase());
      const { headers } = await callRoute('OPTIONS', path);
      const allowed = documented.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      assert.deepEqual(headers.get('allow')?.split(', ').sort(), allowed.sort(), path);
    }
  });

  it('lists exactly the routes that requests are led to', () => {
    const routed = apiRoutes().map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    const documented = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(routed.sort(), documented.sort());
  });

  it('documents 405, 429, 500 and 503 for every operation', () => {
    for (const { method, path, operation } of operationsOf(document)) {
      for (const status of ['405', '429', '500', '503']) {
        assert.ok(operation.responses[status], `${method} ${path} ${status}`);
      }
    }
  });

  it('documents the refusals of every operation that takes a key or a session', () => {
    for (const { operation } of operationsOf(document).filter(({ path }) => path.startsWith('/v1/api/'))) {
      assert.match(operation.responses['401']?.description ?? '', /api_key_missing.*api_key_revoked/);
      assert.match(operation.responses['403']?.description ?? '', /insufficient_scope.*permission_denied/);
      assert.equal(operation.security, undefined, 'the security of the whole document counts');
    }
    assert.deepEqual(document.security, [{ apiKey: [] }, { consoleSession: [] }]);
  });

  it('requires a session for every console route but those that come before one', () => {
    const operations = operationsOf(document).filter(({ path }) => path.startsWith('/v1/console/'));
    assert.ok(operations.length > 20);
    for (const { method, path, operation } of operations) {
      const where = `${method} ${path}`;
      assert.match(operation.tags.join(), /^Console /, where);
      const isBefore = /^POST .*\/(session|session\/options|recovery|invitations\/accept)$/.test(where);
      for (const [status, isDocumented] of [['401', true] as const, ['403', !isBefore] as const]) {
        const isRefusal = operation.responses[status]?.description.includes('permission_denied') === true;
        assert.equal(isRefusal, isDocumented, `${where} ${status}`);
      }
      assert.deepEqual(operation.security, isBefore ? [] : [{ consoleSession: [] }], where);
    }
    assert.deepEqual(
      { ...document.components.securitySchemes['consoleSession'], description: '' },
      { type: 'apiKey', in: 'cookie', name: 'malipo_session', description: '' },
    );
  });

  it('names every error code under its HTTP status', () => {
    const texts = new Map<string, string>();
    for (const { operation } of operationsOf(document)) {
      for (const [status, { description }] of Object.entries(operation.responses)) {
        texts.set(status, `${texts.get(status) ?? ''} ${description}`);
      }
    }
    for (const code of ERROR_CODES) {
      // It belongs to no operation: it is returned if no operation matches.
      if (code === 'route_not_found') continue;
      assert.ok(texts.get(String(HTTP_STATUS[errorCategory(code)]))?.includes(`\`${code}\``), code);
    }
  });

  it('documents the headers that a caller acts on', () => {
    for (const { method, path, operation } of operationsOf(document)) {
      const where = `${method} ${path}`;
      const headersOf = (status: string) => Object.keys(operation.responses[status]?.headers ?? {});
      if (operation.responses['401']) assert.ok(headersOf('401').includes('WWW-Authenticate'), where);
      assert.ok(headersOf('405').includes('Allow'), where);
      assert.ok(headersOf('429').includes('Retry-After'), where);
      if (path !== '/readyz') assert.ok(headersOf('503').includes('Retry-After'), where);
      if (where === 'POST /v1/console/session') assert.ok(headersOf('201').includes('Set-Cookie'));
    }
  });

  it('declares the header Malipo-Console if a session needs it', () => {
    for (const { method, path, operation } of operationsOf(document)) {
      const header = operation.parameters?.find(({ name }) => name === 'Malipo-Console');
      const security = operation.security ?? document.security;
      const takesSession = security.some((scheme) => 'consoleSession' in scheme) && method !== 'GET';
      assert.equal(header !== undefined, takesSession, `${method} ${path}`);
      if (header) assert.equal(header.required === true, path.startsWith('/v1/console/'), `${method} ${path}`);
    }
  });

  it('requires a body exactly if a missing body is refused', () => {
    const optional = [];
    for (const { method, path, operation } of operationsOf(document)) {
      const content = operation.requestBody?.content['application/json'];
      if (!content) continue;
      const isOptional = validatorOf(document, content.schema)({});
      assert.equal(operation.requestBody.required === true, !isOptional, `${method} ${path}`);
      if (isOptional) optional.push(operation.operationId);
    }
    assert.ok(optional.includes('rollApiKey') && optional.includes('rotateEndpointSecret'), optional.join());
    assert.ok(!optional.includes('createReplay') && !optional.includes('changePolicy'), optional.join());
  });

  it('has an empty text in a form for null in JSON, which a form cannot carry', () => {
    const nullable = [];
    for (const { method, path, operation } of operationsOf(document)) {
      const { 'application/json': json, 'application/x-www-form-urlencoded': form } =
        operation.requestBody?.content ?? {};
      if (!json || !form) continue;
      for (const [name, given] of Object.entries(json.example as object)) {
        const fits = (schema: object, value: unknown) =>
          validatorOf(document, schema)({ ...(json.example as object), [name]: value });
        const where = `${method} ${path} ${name}`;
        assert.ok(fits(form.schema, given), where);
        assert.ok(!fits(form.schema, null), where);
        if (!fits(json.schema, null)) continue;
        assert.ok(fits(form.schema, ''), where);
        nullable.push(name);
      }
    }
    assert.ok(nullable.includes('event_types') && nullable.includes('key_held_limit'), nullable.join());
  });

  it('has no brackets in the names of pairs in a form, which would be no pair there', () => {
    const { operation } = operationsOf(document).find((each) => each.operation.operationId === 'createCollection')!;
    const { 'application/json': json, 'application/x-www-form-urlencoded': form } = operation.requestBody!.content;
    for (const name of ['order', 'a[b', 'a]b', 'x'.repeat(41)]) {
      const body = { ...(json!.example as object), metadata: { [name]: '1042' } };
      assert.equal(validatorOf(document, json!.schema)(body), name.length < 41, name);
      assert.equal(validatorOf(document, form!.schema)(body), name === 'order', name);
    }
  });

  it('describes the form of every id in a query or a body if another form is refused', () => {
    const ids = operationsOf(document).flatMap(({ operation }) => {
      const queries = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const { $ref = '' } = (operation.requestBody?.content['application/json']?.schema ?? {}) as { $ref?: string };
      const body = document.components.schemas[$ref.split('/').at(-1) ?? ''] as
        { properties: Record<string, object> } | undefined;
      const fields = Object.entries(body?.properties ?? {}).map(([name, schema]) => ({ name, schema }));
      return [...queries, ...fields].filter(({ name }) => name.endsWith('_id') && name !== 'merchant_id');
    });
    assert.equal(ids.length, 18);
    for (const { name, schema } of ids) assert.ok(!validatorOf(document, schema)('0/0'), name);
  });

  it('has no pattern that some clients cannot read', () => {
    const patterns = new Set<string>();
    JSON.stringify(document, (key, value: unknown) => {
      if (key === 'pattern' && typeof value === 'string') patterns.add(value);
      return value;
    });
    assert.ok(patterns.size > 10);
    for (const pattern of patterns) {
      assert.doesNotMatch(pattern, /\(\?[=!<>]|\\[pPkbB0-9]/, pattern);
      for (const flags of ['', 'u']) assert.doesNotThrow(() => new RegExp(pattern, flags), pattern);
    }
  });

  it('has an example of every parameter, body and response, and each one is valid', () => {
    const all = [...operationsOf(document), ...webhooksOf(document)];
    for (const { method, path, operation } of all) {
      const where = `${method} ${path}`;
      const { parameters = [], requestBody, responses } = operation;
      for (const { schema, example, name } of parameters) assertFits(schema, example, `${where} ${name}`);
      const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
      for (const { schema, example, examples } of contents.flatMap((content) => Object.values(content ?? {}))) {
        const named = Object.keys(examples ?? {}).map((name) => document.components.examples[name]?.value);
        assert.ok(examples === undefined || named.length > 0, where);
        for (const value of examples === undefined ? [example] : named) assertFits(schema, value, where);
      }
    }
    function assertFits(schema: object, example: unknown, where: string): void {
      assert.notEqual(example, undefined, where);
      const validate = validatorOf(document, schema);
      assert.ok(validate(example), `${where}: ${JSON.stringify(validate.errors)} ${JSON.stringify(example)}`);
      assert.doesNotMatch(
        JSON.stringify(example),
        /"text"/,
        `${where}: a field has no example, see openapi-examples.ts`,
      );
    }
  });

  it('describes the webhook of every type of event', () => {
    assert.deepEqual(Object.keys(document.webhooks), EVENT_TYPES);
    for (const { operation } of webhooksOf(document)) {
      const names = operation.parameters?.map(({ name }) => name);
      assert.deepEqual(names, ['Malipo-Signature', 'Malipo-Event-Id', 'Malipo-Delivery-Id', 'Malipo-Attempt']);
      assert.deepEqual(Object.keys(operation.responses), ['410', '2XX']);
    }
  });

  it('documents that a creation takes JSON and forms, and requires an idempotency key', () => {
    const create = document.paths['/v1/api/collections']!['post']!;
    assert.deepEqual(Object.keys(create.requestBody!.content), [
      'application/json',
      'application/x-www-form-urlencoded',
    ]);
    const header = create.parameters?.find((parameter) => parameter.in === 'header');
    assert.deepEqual([header?.name, header?.required], ['Idempotency-Key', true]);
  });
});
