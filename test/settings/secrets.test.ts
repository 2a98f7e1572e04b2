// Where a process has its secrets from, and that it needs no more of them than its roles do.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  ConfigError,
  loadAccountsSettings,
  loadCommandConfig,
  loadConfig,
  loadMigrateSettings,
  loadSandboxSettings,
  secretFileSettings,
} from '../../src/settings/config.ts';
import { call, collectionFields } from '../support/api.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { startAnotherServer } from '../api/responses.ts';

const WITHOUT_OPERATOR_KEYS: Readonly<Record<string, string>> = {
  MALIPO_DATABASE_URL: 'postgres://malipo:pa55-word@db.example/malipo',
  MALIPO_SECRET_KEYS: `a:${randomBytes(32).toString('base64')}`,
  MALIPO_ATTESTATION_KEYS: `a:${randomBytes(32).toString('base64')}`,
};
const SOUND: Readonly<Record<string, string>> = {
  ...WITHOUT_OPERATOR_KEYS,
  MALIPO_OPERATOR_KEYS: `a:${randomBytes(32).toString('base64')}`,
};

/** Of the sandbox operator, without one. */
const SANDBOX: Readonly<Record<string, string>> = {
  MALIPO_SANDBOX_MTN_COLLECTION_SUBSCRIPTION_KEY: 'subscription-secret',
  MALIPO_SANDBOX_MTN_COLLECTION_API_USER: 'user',
  MALIPO_SANDBOX_MTN_DISBURSEMENT_SUBSCRIPTION_KEY: 'outgoing-subscription-secret',
  MALIPO_SANDBOX_MTN_DISBURSEMENT_API_USER: 'user',
  MALIPO_SANDBOX_MTN_DISBURSEMENT_API_KEY: 'outgoing-operator-secret',
};

/** The lines of the configuration error; none when the configuration is usable. */
function problemsOf(load: () => unknown): string[] {
  try {
    load();
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
}

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-secrets-'));
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const fileWith = (text: string): string => {
    const path = join(folder, randomBytes(6).toString('hex'));
    writeFileSync(path, text);
    return path;
  };
  const without = (name: string) =>
    Object.fromEntries(Object.entries(SOUND).filter(([setting]) => setting !== name)) as Record<string, string>;

  it('replaces the setting, for every secret, without the line break at its end', () => {
    const known = Object.keys(SOUND).filter((name) => secretFileSettings().includes(`${name}_FILE`));
    assert.deepEqual(known.length, 4, known.join());
    const expected = inspect(loadConfig(SOUND), { depth: 9 });
    for (const name of known) {
      for (const end of ['', '\n', '\r\n', '\n\n']) {
        const config = loadConfig({ ...without(name), [`${name}_FILE`]: fileWith(`${SOUND[name]!}${end}`) });
        assert.equal(inspect(config, { depth: 9 }), expected);
        assert.equal(config.settings.MALIPO_DATABASE_URL.reveal(), SOUND['MALIPO_DATABASE_URL']);
      }
    }
  });

  it('is checked as the setting itself is, against the others too', () => {
    const name = 'MALIPO_ATTESTATION_KEYS';
    const path = fileWith(SOUND['MALIPO_SECRET_KEYS']!);
    assert.deepEqual(
      problemsOf(() => loadConfig({ ...without(name), [`${name}_FILE`]: path })),
      [`${name}: must have no key of MALIPO_SECRET_KEYS`],
    );
  });

  it('is refused beside the setting, when it cannot be read, and when it is empty, by the name of its setting alone', () => {
    const folderPath = join(folder, 'folder');
    mkdirSync(folderPath);
    const name = 'MALIPO_SECRET_KEYS';
    const setting = `${name}_FILE`;
    const cases: readonly (readonly [Record<string, string>, string])[] = [
      [{ ...SOUND, [setting]: fileWith(SOUND[name]!) }, `${setting}: ${name} is set as well`],
      [{ ...without(name), [setting]: join(folder, 'missing') }, `${setting}: the file cannot be read (ENOENT)`],
      [{ ...without(name), [setting]: folderPath }, `${setting}: the file cannot be read (EISDIR)`],
      [{ ...without(name), [setting]: fileWith('\n') }, `${setting}: the file is empty`],
      // Somebody who put the secret itself there does not find it in a log.
      [{ ...without(name), [setting]: SOUND[name]! }, `${setting}: the file cannot be read (ENOENT)`],
    ];
    for (const [environment, problem] of cases) {
      assert.deepEqual(
        problemsOf(() => loadConfig(environment)),
        [problem],
      );
    }
    assert.deepEqual(
      problemsOf(() => loadConfig({ ...SOUND, [setting]: '' })),
      [],
      'an empty setting is none',
    );
  });

  it('serves the migration, the accounts of the database and the sandbox as well', () => {
    const url = 'postgres://owner:pa55-word@db.example/malipo';
    const path = fileWith(url);
    assert.equal(loadMigrateSettings({ MALIPO_DATABASE_OWNER_URL_FILE: path }).MALIPO_DATABASE_OWNER_URL.reveal(), url);
    const accounts = loadAccountsSettings({
      MALIPO_DATABASE_ADMIN_URL_FILE: path,
      MALIPO_DATABASE_OWNER_URL: url,
      MALIPO_DATABASE_URL: url,
      MALIPO_DATABASE_REPORT_URL_FILE: path,
    });
    assert.equal(accounts.MALIPO_DATABASE_REPORT_URL?.reveal(), url);
    const name = 'MALIPO_SANDBOX_MTN_COLLECTION_API_KEY';
    const sandbox = { ...SANDBOX, [`${name}_FILE`]: fileWith('from a file') };
    assert.equal(loadSandboxSettings(sandbox)[name].reveal(), 'from a file');
    assert.deepEqual(
      problemsOf(() => loadMigrateSettings({ MALIPO_DATABASE_OWNER_URL_FILE: join(folder, 'missing') })),
      ['MALIPO_DATABASE_OWNER_URL_FILE: the file cannot be read (ENOENT)'],
    );
  });
});

describe('the keys of the operators’ credentials', () => {
  it('are required with the role worker, and with no other', () => {
    for (const roles of ['worker', 'api,worker', '']) {
      assert.deepEqual(
        problemsOf(() => loadConfig({ ...WITHOUT_OPERATOR_KEYS, MALIPO_ROLES: roles })),
        ['MALIPO_OPERATOR_KEYS: required with the role worker'],
      );
    }
    for (const roles of ['api', 'dispatcher', 'api,dispatcher']) {
      assert.deepEqual(
        problemsOf(() => loadConfig({ ...WITHOUT_OPERATOR_KEYS, MALIPO_ROLES: roles })),
        [],
      );
    }
    assert.deepEqual(
      problemsOf(() => loadCommandConfig(WITHOUT_OPERATOR_KEYS)),
      [],
    );
  });

  describe('which only the worker has', () => {
    const testEnv = useTestEnvironment({ environment: { MALIPO_ROLES: 'worker' } });

    it('are not needed to accept a payment, to start it, and to hear the operator’s callback', async () => {
      const { baseUrl } = await startAnotherServer(testEnv, {
        MALIPO_OPERATOR_KEYS: '',
        MALIPO_ROLES: 'api,dispatcher',
      });
      const { key } = testEnv.merchant;
      const created = await call(baseUrl, 'POST', '/v1/api/collections', { key, json: collectionFields() });
      assert.equal(created.status, 202, created.text);
      const path = `/v1/api/collections/${String(created.json['id'])}`;
      await eventually('the collection to be paid', async () => {
        const { json } = await call(baseUrl, 'GET', path, { key });
        return json['state'] === 'succeeded' ? true : null;
      });
      const { rows } = await testEnv.db.pool.query<{ reference: string }>(
        'SELECT operator_reference AS reference FROM payments WHERE id = $1',
        [created.json['id']],
      );
      const callback = { externalId: rows[0]!.reference };
      assert.equal((await call(baseUrl, 'POST', '/operators/mtn-momo/callbacks', { json: callback })).status, 200);
    });
  });
});
