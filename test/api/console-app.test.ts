// How the console's files are served: compressed, kept by browsers for their names, and the page under a policy of its own.
import assert from 'node:assert/strict';
import { loadConsoleApp } from '../../src/api/console-app.ts';
import { call } from '../support/api.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { useFolderPerCase } from '../support/use-folder.ts';
import { API_ONLY, assertError } from './responses.ts';

describe('the console’s web app', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${testEnv.baseUrl}${path}`, { headers });

  it('has one page for every path that is no file, under a nonce of each response', async () => {
    const nonces = new Set<string>();
    for (const path of ['/console', '/console/', '/console/payouts/pay_1', '/console/nothing/at/all']) {
      const response = await get(path);
      const page = await response.text();
      assert.equal(response.status, 200, path);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const nonce = /nonce="([\w-]{43})"/.exec(page)?.[1] ?? '';
      nonces.add(nonce);
      const policy = response.headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w-]{43}'; /);
      assert.match(policy, /frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types default$/);
      assert.ok(policy.includes(`'nonce-${nonce}'`));
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    }
    assert.equal(nonces.size, 4);
  });

  it('has files that browsers keep, in the coding that they accept', async () => {
    const page = await (await get('/console')).text();
    const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
    const plain = Buffer.from(await (await get(script, { 'accept-encoding': 'identity' })).arrayBuffer());
    for (const coding of ['br', 'gzip']) {
      const response = await get(script, { 'accept-encoding': coding });
      assert.equal(response.headers.get('content-encoding'), coding);
      assert.equal(response.headers.get('vary'), 'Accept-Encoding');
      assert.match(response.headers.get('cache-control') ?? '', /max-age=31536000, immutable/);
      assert.match(response.headers.get('content-type') ?? '', /javascript/);
      assert.ok(Number(response.headers.get('content-length')) < plain.length / 2);
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(plain), 'fetch decodes it');
    }
    assert.equal((await get('/console/icon.svg')).headers.get('cache-control'), 'no-store');
  });

  it('refuses other methods, unknown files and paths beside it', async () => {
    assertError(await call(testEnv.baseUrl, 'POST', '/console', { idempotencyKey: null }), 'method_not_allowed');
    for (const path of ['/console/assets/nothing.js', '/console/assets/../index.html.br', '/consoles']) {
      const { status } = await get(path);
      assert.ok(status === 404 || path.includes('..'), `${path}: ${status}`);
    }
  });

  const empty = useFolderPerCase();
  it('is absent if it was not built', () => {
    assert.equal(loadConsoleApp([empty.folder]), null);
  });
});
