// The headers that keep browsers from misusing a response: on every surface, whatever the response is.
import assert from 'node:assert/strict';
import { securityHeaders } from '../../src/api/security-headers.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { startTestSandbox } from '../sandbox/sandbox-harness.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { exchange } from './raw-http.ts';
import { API_ONLY, startAnotherServer } from './responses.ts';

const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

describe('every response', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const sandbox = useFixture(startTestSandbox, (each) => each.stop());
  const get = (path: string, init?: RequestInit) => fetch(new URL(path, testEnv.baseUrl), init);

  function assertHeaders(headers: Headers, where: string): void {
    assert.equal(headers.get('x-content-type-options'), 'nosniff', where);
    assert.equal(headers.get('x-frame-options'), 'DENY', where);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', where);
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', where);
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin', where);
    assert.match(headers.get('permissions-policy') ?? '', /camera=\(\).*geolocation=\(\).*payment=\(\)/, where);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none';/, where);
    assert.match(policy, /frame-ancestors 'none'/, where);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/, where);
    assert.equal(headers.has('strict-transport-security'), false, `${where}: not behind an https URL`);
  }

  it('denies frames, foreign content, referrers and features, and is not cached if it is private', async () => {
    const key = { headers: { authorization: `Bearer ${testEnv.merchant.key}` } };
    const requests: readonly (readonly [string, number, RequestInit?])[] = [
      ['/v1/api/balance', 200, key],
      ['/v1/api/balance', 401],
      ['/v1/api/collections', 405, { method: 'DELETE' }],
      ['/v1/api/collections/none', 404, key],
      ['/v1/console/session', 401],
      ['/v1/nothing', 404],
      ['/operators/mtn-momo/callbacks', 400, { method: 'POST' }],
      ['/v1/openapi.json', 200],
      ['/healthz', 200],
      ['/readyz', 200],
    ];
    for (const [path, status, init] of requests) {
      const response = await get(path, init);
      const where = `${path} ${response.status}`;
      assert.ok(response.status === status || (path === '/v1/console/session' && response.status === 403), where);
      assertHeaders(response.headers, where);
      assert.equal(response.headers.get('content-security-policy'), POLICY, where);
      assert.equal(response.headers.get('cache-control'), 'no-store', where);
    }
  });

  it('has them on the guides too, which run our own script alone', async () => {
    for (const path of ['/docs', '/docs/first-payment', '/docs/webhook-test-vectors.json']) {
      const { headers } = await get(path);
      assertHeaders(headers, path);
      assert.match(
        headers.get('content-security-policy') ?? '',
        /script-src 'self'; style-src 'self'; .*trusted-types 'none'$/,
      );
      assert.equal(headers.get('cache-control'), 'public, max-age=300');
    }
  });

  it('has them when the request is not HTTP', async () => {
    const text = await exchange(testEnv.baseUrl, 'nonsense\r\n\r\n');
    const lines = text.split('\r\n\r\n')[0]!.split('\r\n').slice(1);
    const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
    assertHeaders(headers, 'not HTTP');
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  it('has them at the sandbox operator, on pages, JSON and errors, with a policy of the pages’ own', async () => {
    const json = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{' };
    const requests: readonly (readonly [string, number, RequestInit?])[] = [
      ['/sandbox', 200],
      ['/sandbox/transactions', 200],
      ['/nothing', 404],
      ['/collection/token/', 401, { method: 'POST' }],
      ['/sandbox/faults', 400, json],
    ];
    for (const [path, status, init] of requests) {
      const { headers, status: given } = await fetch(`${sandbox.url}${path}`, init);
      assert.equal(given, status, path);
      assertHeaders(headers, path);
      assert.equal(headers.get('content-security-policy'), POLICY, path);
      assert.equal(headers.get('cache-control'), 'no-store', path);
    }
    const page = await fetch(`${sandbox.url}/sandbox/handset`, { headers: { accept: 'text/html' } });
    const headers = new Headers(page.headers);
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'sha256-/);
    // Without any referrer, browsers hide the origin of the forms that the pages send to themselves.
    assert.equal(headers.get('referrer-policy'), 'same-origin');
    headers.set('referrer-policy', 'no-referrer');
    assertHeaders(headers, 'a page');
  });

  it('has them at the port of the metrics', async () => {
    const port = await freePort();
    await startAnotherServer(testEnv, { MALIPO_METRICS_PORT: String(port) });
    for (const [path, status] of [
      ['/metrics', 200],
      ['/', 404],
    ] as const) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      assert.equal(response.status, status);
      assertHeaders(response.headers, path);
      assert.equal(response.headers.get('content-security-policy'), POLICY, path);
    }
    const text = await exchange(`http://127.0.0.1:${port}`, 'nonsense\r\n\r\n');
    assert.match(text, /^HTTP\/1\.1 400 [^]*X-Frame-Options: DENY/);
  });

  it('tells browsers to use https only, if the service is reached by https', () => {
    const name = 'Strict-Transport-Security';
    assert.equal(securityHeaders('https://api.malipo.example')[name], 'max-age=63072000; includeSubDomains');
    assert.equal(securityHeaders('http://127.0.0.1:8080')[name], undefined);
  });
});
