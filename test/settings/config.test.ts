// The configuration: all problems at once, and no secret in any output.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { clockSetting } from '../../src/settings/clocks.ts';
import { ConfigError, loadConfig, loadSandboxSettings } from '../../src/settings/config.ts';
import { Secret } from '../../src/settings/values.ts';
import { DEMO_CLOCKS, REAL_CLOCKS, type Clocks } from '../../src/domain/clocks.ts';
import { RETAINED_TABLES, RETENTION } from '../../src/domain/retention.ts';
import { ATTESTATION_KEY, LIVE, problemsOf, SECRET_KEY, SECRETS, SOUND } from './sound-settings.ts';
import { valuesOf } from '../support/values-of.ts';

describe('the configuration', () => {
  it('requires only the database and the keys', () => {
    const { settings, temporalNamespace, clocks } = loadConfig(SOUND);
    assert.equal(settings.MALIPO_ENVIRONMENT, 'test');
    assert.deepEqual(settings.MALIPO_ROLES, ['api', 'worker', 'dispatcher']);
    assert.equal(temporalNamespace, 'malipo-test');
    assert.deepEqual(clocks, REAL_CLOCKS);
  });

  it('reports everything that is missing at once', () => {
    assert.deepEqual(problemsOf({}).sort(), Object.keys(SOUND).sort());
  });

  it('is refused without any place for a marker of the fence', () => {
    const none = { ...SOUND, MALIPO_FENCE_IN_TEMPORAL: 'false' };
    assert.deepEqual(problemsOf(none), ['MALIPO_FENCE_MARKER_FILE']);
    assert.deepEqual(problemsOf({ ...none, MALIPO_FENCE_MARKER_FILE: 'fence.json' }), []);
  });

  it('treats an empty variable as not set', () => {
    const empty = Object.fromEntries(Object.keys(SOUND).map((name) => [name, '']));
    assert.deepEqual(problemsOf(empty).sort(), Object.keys(SOUND).sort());
    assert.equal(loadConfig({ ...SOUND, MALIPO_HTTP_PORT: '' }).settings.MALIPO_HTTP_PORT, 8080);
  });

  it('refuses the former name of a setting, and says the present one', () => {
    const former = { ...SOUND, MALIPO_DELIVERIES_PER_ENDPOINT: '4' };
    assert.throws(
      () => loadConfig(former),
      /MALIPO_DELIVERIES_PER_ENDPOINT: this setting is now named MALIPO_DELIVERIES_PER_ENDPOINT_MAX/,
    );
  });

  it('reports every wrong value, wrong durations included, and every missing one', () => {
    const wrong = {
      ...SOUND,
      MALIPO_ENVIRONMENT: 'production',
      MALIPO_HTTP_PORT: '70000',
      MALIPO_ROLES: 'api,cook',
      MALIPO_TEMPORAL_ADDRESS: 'http://temporal',
      MALIPO_SECRET_KEYS: 'a:c2hvcnQ=',
      MALIPO_PROMPT_WINDOW_MS: 'soon',
      MALIPO_POLL_SCHEDULE_MS: '1,two',
      MALIPO_ATTESTATION_KEYS: '',
    };
    const names = Object.keys(wrong).filter((name) => wrong[name as keyof typeof wrong] !== SOUND[name]);
    assert.deepEqual([...new Set(problemsOf(wrong))].sort(), names.sort());
  });

  it('keeps keys for the promised time, and may remove ended records at once', () => {
    const set = (name: string, value: number) => problemsOf({ ...SOUND, [name]: String(value) });
    const promised = 30 * 86_400_000;
    const [keys, ...others] = RETAINED_TABLES.map((table) => clockSetting(RETENTION[table]));
    assert.equal(keys, 'MALIPO_IDEMPOTENCY_KEYS_KEPT_FOR_MS');
    assert.deepEqual([set(keys, promised - 1), set(keys, promised)], [[keys], []]);
    for (const name of others) assert.deepEqual([set(name, -1), set(name, promised)], [[name], []], name);
    assert.deepEqual(set('MALIPO_SESSIONS_KEPT_FOR_MS', 0), []);
    assert.deepEqual(set('MALIPO_SWEEP_EVERY_MS', 0), ['MALIPO_SWEEP_EVERY_MS']);
  });

  it('refuses a duration that no date can be older than', () => {
    const name = 'MALIPO_CALLBACKS_KEPT_FOR_MS';
    for (const years of [100, 101]) {
      const value = String(years * 365 * 86_400_000);
      assert.deepEqual(problemsOf({ ...SOUND, [name]: value }), years > 100 ? [name] : [], value);
    }
  });

  function assertRefused(name: string, values: readonly string[]): void {
    for (const wrong of values) assert.deepEqual(problemsOf({ ...SOUND, [name]: wrong }), [name], wrong);
  }

  it('takes changes of operator prefixes for markets that there are, and refuses all others', () => {
    const name = 'MALIPO_OPERATOR_PREFIXES';
    const { settings } = loadConfig({ ...SOUND, [name]: 'mtn-momo/UG+=71 75, mtn-momo/ZM=56 76 96' });
    assert.deepEqual(settings[name], [
      { operator: 'mtn-momo', country: 'UG', kind: 'added', prefixes: ['71', '75'] },
      { operator: 'mtn-momo', country: 'ZM', kind: 'replaced', prefixes: ['56', '76', '96'] },
    ]);
    assertRefused(name, [
      'mtn-momo/UG+=39',
      'airtel/UG=70',
      'mtn-momo/KE=70',
      'mtn-momo/UG',
      'UG=70',
      'toString/UG=70',
    ]);
  });

  it('takes the amounts of contracts for markets that there are, and refuses all others', () => {
    const name = 'MALIPO_OPERATOR_AMOUNTS';
    const rules = { minAmountMinor: 200n, maxAmountMinor: 1_000_000n, stepMinor: 100n };
    const { settings } = loadConfig({ ...SOUND, [name]: 'mtn-momo/GH/GHS/payout=200-1000000/100' });
    assert.deepEqual(settings[name], [
      { operator: 'mtn-momo', country: 'GH', currency: 'GHS', kind: 'payout', ...rules },
    ]);
    assertRefused(name, [
      'mtn-momo/KE/KES/payout=1-2',
      'mtn-momo/GH/USD/payout=1-2',
      'toString/GH/GHS/payout=1-2',
      'mtn-momo/GH/GHS/payout=2-1',
      'GH=1',
    ]);
  });

  it('cannot be changed after it was read', () => {
    const config = loadConfig(SOUND);
    assert.throws(() => Object.assign(config.settings, { MALIPO_HTTP_PORT: 1 }), TypeError);
    assert.throws(() => Object.assign(config.clocks, { promptWindowMs: 1 }), TypeError);
  });
});

describe('secrets', () => {
  it('are shown neither by printing the configuration nor by turning it into JSON', () => {
    const config = loadConfig(SOUND);
    for (const printed of [inspect(config, { depth: null, showHidden: true }), JSON.stringify(config)]) {
      for (const part of [
        'pa55-word',
        'subscription-secret',
        'operator-secret',
        'outgoing',
        SECRET_KEY.toString('base64'),
        ATTESTATION_KEY.toString('base64'),
      ]) {
        assert.ok(!printed.includes(part), part);
      }
      assert.ok(!printed.includes([...SECRET_KEY].slice(0, 4).join(',')));
      assert.ok(!printed.includes(SECRET_KEY.toString('hex', 0, 4)));
      assert.ok(
        !printed.includes([...SECRET_KEY.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')),
      );
    }
  });

  it('are not shown in an error about them', () => {
    for (const [name, value] of Object.entries(SECRETS)) {
      for (const wrong of [`http://${value}`, `${value} ${value}`, `b:${value}`]) {
        assert.throws(
          () => loadConfig({ ...SOUND, [name]: wrong, MALIPO_HTTP_PORT: 'x' }),
          (error: Error) => !error.message.includes(value) && !error.message.includes('pa55'),
        );
      }
    }
  });

  it('print as three stars and are returned by reveal only', () => {
    const secret = new Secret('s3cret');
    assert.deepEqual([secret.toString(), JSON.stringify([secret]), inspect(secret)], ['***', '["***"]', '***']);
    assert.equal(secret.reveal(), 's3cret');
  });
});

describe('the keys that seal stored secrets', () => {
  const other = randomBytes(32).toString('base64');
  it('are in order, the sealing key first', () => {
    const { MALIPO_SECRET_KEYS: ring } = loadConfig({
      ...SOUND,
      MALIPO_SECRET_KEYS: `new:${other}, old:${other}`,
    }).settings;
    assert.deepEqual(valuesOf(ring, 'name'), ['new', 'old']);
  });

  const wrong: [string, string][] = [
    ['without a name', other],
    ['of the wrong length', 'a:AAAA'],
    ['with the same name twice', `a:${other},a:${other}`],
    ['with an invalid name', `a b:${other}`],
    ['with nothing after a comma', `a:${other},`],
  ];
  for (const [what, value] of wrong) {
    it(`are refused ${what}`, () => {
      assert.deepEqual(problemsOf({ ...SOUND, MALIPO_SECRET_KEYS: value }), ['MALIPO_SECRET_KEYS']);
    });
  }
});

describe('the keys that attest', () => {
  const other = randomBytes(32).toString('base64');

  it('are a separate ring, the attesting key first', () => {
    const { MALIPO_ATTESTATION_KEYS: ring } = loadConfig({
      ...SOUND,
      MALIPO_ATTESTATION_KEYS: `new:${other}, old:${ATTESTATION_KEY.toString('base64')}`,
    }).settings;
    assert.deepEqual(valuesOf(ring, 'name'), ['new', 'old']);
    assert.deepEqual(problemsOf({ ...SOUND, MALIPO_ATTESTATION_KEYS: 'a:AAAA' }), ['MALIPO_ATTESTATION_KEYS']);
  });

  it('are refused if one of them also seals, under any name and at any position', () => {
    const sealing = SECRET_KEY.toString('base64');
    for (const [secretKeys, attestationKeys] of [
      [`a:${sealing}`, `b:${sealing}`],
      [`new:${other},old:${sealing}`, `one:${ATTESTATION_KEY.toString('base64')}, two:${sealing}`],
      // The same bytes, written without the padding.
      [`a:${sealing}`, `b:${sealing.replace(/=+$/, '')}`],
    ] as const) {
      const environment = { ...SOUND, MALIPO_SECRET_KEYS: secretKeys, MALIPO_ATTESTATION_KEYS: attestationKeys };
      assert.deepEqual(problemsOf(environment), ['MALIPO_ATTESTATION_KEYS']);
    }
  });
});

describe('the keys of operators’ credentials', () => {
  it('are refused if one of them is a key of another ring', () => {
    for (const key of [SECRET_KEY, ATTESTATION_KEY]) {
      const environment = { ...SOUND, MALIPO_OPERATOR_KEYS: `new:${key.toString('base64')}` };
      assert.deepEqual(problemsOf(environment), ['MALIPO_OPERATOR_KEYS']);
    }
  });
});

describe('the connection to an engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-config-'));
  const pem = join(folder, 'some.pem');
  writeFileSync(pem, 'a private key');
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const TLS = { ...SOUND, MALIPO_TEMPORAL_TLS: 'true' };

  it('takes its certificates from files, and shows none of them', () => {
    const config = loadConfig({
      ...TLS,
      MALIPO_TEMPORAL_TLS_CA_FILE: pem,
      MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE: pem,
      MALIPO_TEMPORAL_TLS_KEY_FILE: pem,
      MALIPO_TEMPORAL_API_KEY: 'api-key-secret',
    });
    assert.equal(config.settings.MALIPO_TEMPORAL_TLS_KEY_FILE?.reveal(), 'a private key');
    assert.doesNotMatch(inspect(config, { depth: 9 }) + JSON.stringify(config), /a private key|api-key-secret/);
  });

  it('is refused when a file cannot be read', () => {
    const missing = join(folder, 'missing.pem');
    assert.deepEqual(problemsOf({ ...TLS, MALIPO_TEMPORAL_TLS_CA_FILE: missing }), ['MALIPO_TEMPORAL_TLS_CA_FILE']);
    const url = `postgres://a:b@db.example/malipo?sslmode=verify-full&sslrootcert=`;
    assert.deepEqual(problemsOf({ ...SOUND, MALIPO_DATABASE_URL: `${url}${missing}` }), ['MALIPO_DATABASE_URL']);
    assert.deepEqual(problemsOf({ ...SOUND, MALIPO_DATABASE_URL: `${url}${pem}` }), []);
  });

  it('is refused with a certificate and no key, and with parts of TLS that nothing uses', () => {
    const half = { ...TLS, MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE: pem };
    assert.deepEqual(problemsOf(half), ['MALIPO_TEMPORAL_TLS_KEY_FILE']);
    for (const [name, value] of [
      ['MALIPO_TEMPORAL_TLS_CA_FILE', pem],
      ['MALIPO_TEMPORAL_TLS_SERVER_NAME', 'temporal.example'],
      ['MALIPO_TEMPORAL_API_KEY', 'key'],
    ] as const)
      assert.deepEqual(problemsOf({ ...SOUND, [name]: value }), [name]);
  });
});

describe('test keys and real money', () => {
  it('never meet in one Temporal namespace', () => {
    const name = 'MALIPO_TEMPORAL_NAMESPACE';
    assert.deepEqual(problemsOf({ ...SOUND, [name]: 'malipo-live' }), [name]);
    assert.deepEqual(problemsOf({ ...LIVE, [name]: 'malipo-test' }), [name]);
    for (const namespace of ['malipo-test', 'payments.a1b2c']) {
      assert.equal(loadConfig({ ...SOUND, [name]: namespace }).temporalNamespace, namespace);
    }
  });
});

describe('the address of the Temporal UI', () => {
  it('is refused in the live environment, where it would show merchants’ people the work of all merchants', () => {
    const name = 'MALIPO_TEMPORAL_UI_URL';
    assert.deepEqual(problemsOf({ ...LIVE, [name]: 'https://temporal.example' }), [name]);
    assert.deepEqual(problemsOf({ ...SOUND, [name]: 'https://temporal.example' }), []);
    assert.deepEqual(problemsOf({ ...SOUND, [name]: 'javascript:alert(1)' }), [name]);
  });
});

describe('durations', () => {
  it('can each be set by a variable with their name', () => {
    for (const [name, value] of Object.entries(REAL_CLOCKS) as [keyof Clocks, number | readonly number[]][]) {
      const wanted = typeof value === 'number' ? value + 1 : [100, 200, 300];
      const { clocks } = loadConfig({ ...SOUND, [clockSetting(name)]: String(wanted) });
      assert.deepEqual(clocks, { ...REAL_CLOCKS, [name]: wanted });
    }
  });

  it('are named in capitals', () => {
    assert.equal(clockSetting('promptWindowMs'), 'MALIPO_PROMPT_WINDOW_MS');
  });

  it('come from the demonstration’s set when it is chosen', () => {
    assert.deepEqual(loadConfig({ ...SOUND, MALIPO_CLOCKS: 'demo' }).clocks, DEMO_CLOCKS);
  });

  it('are refused when they are negative, malformed or a list in place of one value', () => {
    for (const value of ['-1', '60.5', '100,200', 'x', '1e30']) {
      assert.deepEqual(problemsOf({ ...SOUND, MALIPO_PROMPT_WINDOW_MS: value }), ['MALIPO_PROMPT_WINDOW_MS'], value);
    }
  });
});

describe('durations of repeated work', () => {
  it('are refused when they are so short that nothing else would run', () => {
    const ofRetention: readonly string[] = Object.values(RETENTION);
    for (const name of Object.keys(REAL_CLOCKS) as (keyof Clocks)[]) {
      // What is kept for a time repeats nothing, and neither does a stop.
      if ((ofRetention.includes(name) && REAL_CLOCKS[name] === 0) || name === 'unreadyBeforeCloseMs') continue;
      const setting = clockSetting(name);
      assert.deepEqual([...new Set(problemsOf({ ...SOUND, [setting]: '49' }))], [setting]);
    }
    for (const value of ['0', '100,0', '0,100']) {
      assert.deepEqual(problemsOf({ ...SOUND, MALIPO_POLL_SCHEDULE_MS: value }), ['MALIPO_POLL_SCHEDULE_MS'], value);
    }
    assert.deepEqual(problemsOf({ ...SOUND, MALIPO_DELIVERY_SCHEDULE_MS: '0,0' }), ['MALIPO_DELIVERY_SCHEDULE_MS']);
    assert.deepEqual(problemsOf({ ...SOUND, MALIPO_DELIVERY_SCHEDULE_MS: '0,50' }), []);
  });
});

describe('the grace time for a payment that the operator does not find', () => {
  it('is longer than a call to the operator, so that no send can still arrive after it', () => {
    for (const { notFoundGraceMs, operatorTimeoutMs } of [REAL_CLOCKS, DEMO_CLOCKS]) {
      assert.ok(notFoundGraceMs > operatorTimeoutMs);
    }
    const times = (graceMs: number) => ({
      MALIPO_NOT_FOUND_GRACE_MS: String(graceMs),
      MALIPO_OPERATOR_TIMEOUT_MS: '7000',
    });
    assert.deepEqual(problemsOf({ ...SOUND, ...times(7000) }), ['MALIPO_NOT_FOUND_GRACE_MS']);
    assert.deepEqual(problemsOf({ ...SOUND, ...times(7001) }), []);
  });
});

describe('the sandbox’s settings', () => {
  it('report everything that is missing at once, and show no secret', () => {
    assert.throws(
      () => loadSandboxSettings({ MALIPO_SANDBOX_PORT: 'x', MALIPO_SANDBOX_MTN_COLLECTION_API_KEY: 'operator-secret' }),
      (error: Error) =>
        error instanceof ConfigError && error.message.split('\n').length === 7 && !error.message.includes('secret'),
    );
  });
});
