// How the documentation is served: its pages and files, their policies, and what they load.
import assert from 'node:assert/strict';
import { loadDocsSite } from '../../src/api/docs-site.ts';
import { call } from '../support/api.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { useFolderPerCase } from '../support/use-folder.ts';
import { API_ONLY, assertError } from './responses.ts';

describe('the documentation’s site', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${testEnv.baseUrl}${path}`, { headers });

  it('loads all its files from the service itself, named by their content and kept by browsers', async () => {
    for (const path of ['/docs', '/docs/first-payment', '/docs/reference']) {
      const page = await (await get(path)).text();
      const loads = [...page.matchAll(/(?:src|(?:stylesheet|icon)" href)="([^"]*)"/g)].map(([, link = '']) => link);
      const files = loads.filter((link) => link !== 'data:,');
      assert.ok(files.length >= 2, path);
      for (const file of files) {
        assert.match(file, /^\/docs\/assets\/[\w-]+-[0-9a-f]{10}\.(?:js|css)$/);
        const response = await get(file);
        assert.equal(response.status, 200, file);
        assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
        if (file.endsWith('.css')) assert.doesNotMatch(await response.text(), /@import|url\((?!["']?data:)/);
      }
    }
  });

  it('sends pages and scripts in the coding that the browser accepts', async () => {
    for (const path of ['/docs/webhooks', '/docs/errors']) {
      const plain = await (await get(path, { 'accept-encoding': 'identity' })).text();
      for (const coding of ['br', 'gzip']) {
        const response = await get(path, { 'accept-encoding': coding });
        assert.equal(response.headers.get('content-encoding'), coding);
        assert.equal(response.headers.get('vary'), 'Accept-Encoding');
        assert.ok(Number(response.headers.get('content-length')) < plain.length / 2);
        assert.equal(await response.text(), plain);
      }
    }
  });

  it('gives the reference a policy without scripts in the page, from text or from elsewhere, and a nonce of each response', async () => {
    const nonces = new Set<string>();
    for (let n = 0; n < 3; n += 1) {
      const response = await get('/docs/reference');
      const policy = response.headers.get('content-security-policy') ?? '';
      const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]));
      const nonce = /content="([\w-]{43})"/.exec(await response.text())?.[1] ?? '';
      nonces.add(nonce);
      assert.equal(rules.get('default-src'), "'none'");
      assert.equal(rules.get('script-src'), "'self'");
      assert.equal(rules.get('connect-src'), "'self'");
      assert.equal(rules.get('style-src'), `'self' 'nonce-${nonce}'`);
      assert.equal(rules.get('style-src-attr'), "'unsafe-inline'");
      assert.equal(rules.get('require-trusted-types-for'), "'script'");
      assert.doesNotMatch(policy, /unsafe-eval|https?:|\*|blob:/);
      assert.equal(response.headers.get('cache-control'), 'no-store');
    }
    assert.equal(nonces.size, 3);
  });

  it('allows style attributes on the reference alone', async () => {
    for (const path of [
      '/docs',
      '/docs/states',
      '/docs/webhook-test-vectors.json',
      '/docs/examples/webhook-receiver.mjs',
    ]) {
      const response = await get(path);
      assert.equal(response.status, 200, path);
      assert.doesNotMatch(response.headers.get('content-security-policy') ?? "'unsafe", /unsafe/, path);
    }
  });

  it('refuses other methods and has nothing at other paths', async () => {
    assertError(await call(testEnv.baseUrl, 'POST', '/docs', { idempotencyKey: null }), 'method_not_allowed');
    for (const path of [
      '/docs/',
      '/docs/index',
      '/docs/index.html',
      '/docs/reference.html',
      '/docs/states.html.br',
      '/docs/assets',
    ]) {
      assert.equal((await get(path)).status, 404, path);
    }
  });

  const empty = useFolderPerCase();
  it('is absent if it was not built', () => {
    assert.equal(loadDocsSite([empty.folder]), null);
  });
});
