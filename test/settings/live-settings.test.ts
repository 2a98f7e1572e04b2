// The configuration of the live environment: what could lose money, or let the wrong people in, is refused.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { clockSetting } from '../../src/settings/clocks.ts';
import { loadAccountsSettings, loadConfig, loadMigrateSettings } from '../../src/settings/config.ts';
import { LEAST_LIVE_CLOCKS, REAL_CLOCKS, type Clocks } from '../../src/domain/clocks.ts';
import { LIVE, problemsOf, SOUND } from './sound-settings.ts';

describe('the live environment', () => {
  it('has its own Temporal namespace', () => {
    assert.equal(loadConfig(LIVE).temporalNamespace, 'malipo-live');
  });

  it('refuses the demonstration’s clocks, webhooks to this machine, and plain HTTP, all at once', () => {
    const careless = {
      ...LIVE,
      MALIPO_CLOCKS: 'demo',
      MALIPO_WEBHOOK_ALLOW_LOOPBACK: 'true',
      MALIPO_PUBLIC_URL: 'http://api.malipo.example',
    };
    const names = ['MALIPO_CLOCKS', 'MALIPO_WEBHOOK_ALLOW_LOOPBACK', 'MALIPO_PUBLIC_URL'];
    assert.deepEqual(problemsOf(careless), names);
    assert.deepEqual(problemsOf({ ...careless, MALIPO_HTTP_PORT: 'x' }), ['MALIPO_HTTP_PORT', ...names]);
    for (const name of names) {
      assert.deepEqual(problemsOf({ ...LIVE, [name]: careless[name as keyof typeof careless] }), [name]);
    }
  });

  const open: (readonly [what: string, name: string, values: readonly string[]])[] = [
    [
      'a connection to the database that anybody can read, or whose other end anybody can be',
      'MALIPO_DATABASE_URL',
      ['', '?sslmode=disable', '?sslmode=no-verify', '?sslmode=require', '?sslmode=verify-ca'].map(
        (parameter) => `postgres://malipo:pa55-word@db.example/malipo${parameter}`,
      ),
    ],
    ['certificates that nobody verifies', 'NODE_TLS_REJECT_UNAUTHORIZED', ['0']],
    ['proxies that are not counted, behind which everybody has one address', 'MALIPO_TRUSTED_PROXIES', ['0', '']],
    [
      'metrics that listen on every network or on a public one',
      'MALIPO_METRICS_HOST',
      ['0.0.0.0', '::', '203.0.113.7', '2001:db8::7', '::ffff:0.0.0.0', 'metrics.example'],
    ],
  ];
  const ring = (bytes: Buffer) => `good:${randomBytes(32).toString('base64')},bad:${bytes.toString('base64')}`;
  const guessable = [
    Buffer.alloc(32),
    Buffer.alloc(32, 'ab'),
    Buffer.from(Array.from({ length: 32 }, (_, index) => index)),
    Buffer.from(Array.from({ length: 32 }, (_, index) => (index % 2) * 100 + index)),
    Buffer.from('Malipo live sealing key of 2026!'),
  ];
  open.push(
    ['a Temporal that lets anybody in', 'MALIPO_TEMPORAL_API_KEY', ['']],
    ['keys that seal and can be guessed', 'MALIPO_SECRET_KEYS', guessable.map(ring)],
    ['keys that attest and can be guessed', 'MALIPO_ATTESTATION_KEYS', guessable.map(ring)],
    ['keys of operators’ credentials that can be guessed', 'MALIPO_OPERATOR_KEYS', guessable.map(ring)],
    ['any number of requests from an address', 'MALIPO_RATE_LIMIT_PER_SECOND', ['0', '00', '0x0']],
    ['any number of refused keys from an address', 'MALIPO_REFUSED_KEYS_PER_ADDRESS', ['0']],
    ['a log without the signed heads of audit logs', 'MALIPO_LOG_LEVEL', ['warn', 'error', 'fatal', 'silent']],
    ['any number of callbacks of an operator', 'MALIPO_OPERATOR_RATE_LIMIT_PER_SECOND', ['0']],
  );
  for (const [what, name, values] of open) {
    it(`refuses ${what}`, () => {
      for (const value of values) {
        assert.deepEqual(problemsOf({ ...LIVE, [name]: value }), [name], value);
        if (value !== '') assert.deepEqual(problemsOf({ ...SOUND, [name]: value }), [], `${value} in a test`);
      }
    });
  }

  it('refuses a connection to Temporal without TLS', () => {
    for (const MALIPO_TEMPORAL_TLS of ['false', '']) {
      const environment = { ...LIVE, MALIPO_TEMPORAL_TLS, MALIPO_TEMPORAL_API_KEY: '' };
      assert.deepEqual(problemsOf(environment), ['MALIPO_TEMPORAL_TLS', 'MALIPO_TEMPORAL_API_KEY']);
    }
  });

  it('accepts a client certificate instead of an API key of Temporal, and thousands of random keys', () => {
    const certificate = new URL('../../package.json', import.meta.url).pathname;
    const own = { MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE: certificate, MALIPO_TEMPORAL_TLS_KEY_FILE: certificate };
    assert.deepEqual(problemsOf({ ...LIVE, MALIPO_TEMPORAL_API_KEY: '', ...own }), []);
    const keys = Array.from({ length: 5000 }, (_, index) => `k${index}:${randomBytes(32).toString('base64')}`);
    assert.deepEqual(problemsOf({ ...LIVE, MALIPO_SECRET_KEYS: keys.join() }), []);
  });

  it('refuses times so short that a payment would be called never sent, or over, before that is known', () => {
    const careless = { MALIPO_NOT_FOUND_GAP_MS: '50', MALIPO_NOT_FOUND_SPAN_MS: '60' };
    assert.deepEqual(problemsOf({ ...SOUND, ...careless }), [], 'in a test');
    assert.deepEqual(problemsOf({ ...LIVE, ...careless, MALIPO_TRUSTED_PROXIES: '0' }), [
      ...Object.keys(careless),
      'MALIPO_TRUSTED_PROXIES',
    ]);
    for (const [name, { ms }] of Object.entries(LEAST_LIVE_CLOCKS) as [keyof Clocks, { ms: number }][]) {
      const others = name === 'operatorTimeoutMs' ? { MALIPO_NOT_FOUND_GRACE_MS: '60000' } : {};
      // For a schedule, the longest wait counts.
      const set = (value: number) => ({ ...LIVE, ...others, [clockSetting(name)]: String(value) });
      assert.deepEqual(problemsOf(set(ms - 1)), [clockSetting(name)], name);
      assert.deepEqual(problemsOf(set(ms)), [], name);
      assert.ok([REAL_CLOCKS[name]].flat().at(-1)! >= ms, name);
    }
    const schedule = '600000,3600000';
    assert.deepEqual(problemsOf({ ...LIVE, MALIPO_LATE_CHECK_AGES_MS: schedule }), ['MALIPO_LATE_CHECK_AGES_MS']);
    assert.deepEqual(problemsOf({ ...LIVE, MALIPO_LATE_CHECK_AGES_MS: `${schedule},86400000` }), []);
  });

  it('refuses such a connection of the owner and of the superuser, too, with which everything could be changed', () => {
    const [open, verified] = ['', '?sslmode=verify-full'].map(
      (mode) => `postgres://owner:pa55-word@db.example/malipo${mode}`,
    );
    const MALIPO_ENVIRONMENT = 'live';
    const migrate = (url = '') => loadMigrateSettings({ MALIPO_ENVIRONMENT, MALIPO_DATABASE_OWNER_URL: url });
    const others = { MALIPO_DATABASE_OWNER_URL: open, MALIPO_DATABASE_URL: open };
    const accounts = (url = '') =>
      loadAccountsSettings({ ...others, MALIPO_ENVIRONMENT, MALIPO_DATABASE_ADMIN_URL: url });
    const refusal = (name: string) => ({
      message: new RegExp(`the configuration is invalid:\\n  ${name}: must have sslmode=verify-full[^\\n]+$`),
    });
    assert.throws(() => migrate(open), refusal('MALIPO_DATABASE_OWNER_URL'));
    assert.throws(() => accounts(open), refusal('MALIPO_DATABASE_ADMIN_URL'));
    assert.equal(migrate(verified).MALIPO_DATABASE_OWNER_URL.reveal(), verified);
    assert.equal(accounts(verified).MALIPO_DATABASE_ADMIN_URL.reveal(), verified);
    assert.equal(loadMigrateSettings({ MALIPO_DATABASE_OWNER_URL: open }).MALIPO_DATABASE_OWNER_URL.reveal(), open);
  });

  it('lets metrics listen on this machine or on a private network', () => {
    for (const host of ['localhost', '127.0.0.1', '::1', '10.1.2.3', '192.168.7.7', '172.16.0.9', 'fd00::7'])
      assert.deepEqual(problemsOf({ ...LIVE, MALIPO_METRICS_HOST: host }), [], host);
  });

  it('refuses the default addresses of a developer’s machine', () => {
    assert.deepEqual(problemsOf({ ...LIVE, MALIPO_PUBLIC_URL: '' }), ['MALIPO_PUBLIC_URL']);
    assert.deepEqual(problemsOf({ ...LIVE, MALIPO_CALLBACK_URL: 'http://inside' }), ['MALIPO_CALLBACK_URL']);
    assert.deepEqual(problemsOf({ ...LIVE, MALIPO_CALLBACK_URL: '' }), []);
    assert.deepEqual(problemsOf({ ...LIVE, MALIPO_CALLBACK_URL: 'https://calls.malipo.example' }), []);
  });
});
