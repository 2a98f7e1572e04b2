// The secrets of the embedded start: generated once, kept, and completed when a newer version needs more.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoSecrets } from '../../src/dev/demo-secrets.ts';

const REMEDY =
  'This file holds the key that seals the secrets in the database. Put a copy of it back, or remove the whole data folder ' +
  'with its database and begin again with an empty one.';

describe('the secrets of the embedded start', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'malipo-secrets-'));
    file = join(folder, 'secrets.json');
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const written = (): unknown => JSON.parse(readFileSync(file, 'utf8'));

  it('are generated once, for this user only, and are the same at every start', () => {
    const secrets = demoSecrets(file, undefined);
    assert.deepEqual(written(), secrets);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(demoSecrets(file, undefined), secrets);
    assert.notEqual(
      secrets['MALIPO_SANDBOX_MTN_DISBURSEMENT_API_KEY'],
      secrets['MALIPO_SANDBOX_MTN_COLLECTION_API_KEY'],
    );
  });

  it('are kept from an older version, and the missing ones are added permanently', () => {
    const older = Object.fromEntries(
      Object.entries(demoSecrets(file, undefined)).filter(([name]) => !name.includes('DISBURSE')),
    );
    writeFileSync(file, JSON.stringify(older));
    const completed = demoSecrets(file, undefined);
    assert.equal(Object.keys(completed).length, Object.keys(older).length + 3);
    for (const [name, value] of Object.entries(older)) assert.equal(completed[name], value);
    assert.deepEqual(written(), completed);
    assert.deepEqual(demoSecrets(file, undefined), completed);
  });

  it('are not generated again while there is a database that was sealed with them', () => {
    assert.throws(() => demoSecrets(file, '/the/cluster'), {
      message: `${file} is gone, and the database in /the/cluster is there. ${REMEDY}`,
    });
    assert.equal(existsSync(file), false);
  });

  for (const [what, content] of [
    ['without the key', (secrets: Record<string, string>) => ({ ...secrets, MALIPO_SECRET_KEYS: undefined })],
    ['with a blank key', (secrets: Record<string, string>) => ({ ...secrets, MALIPO_SECRET_KEYS: ' ' })],
    ['with nothing in it', () => ({})],
  ] as const) {
    it(`get no new key in a file ${what} while a database exists that the old key sealed`, () => {
      const text = JSON.stringify(content(demoSecrets(file, undefined)));
      writeFileSync(file, text);
      assert.throws(() => demoSecrets(file, '/the/cluster'), {
        message: `${file} has no MALIPO_SECRET_KEYS, and the database in /the/cluster is there. ${REMEDY}`,
      });
      assert.equal(readFileSync(file, 'utf8'), text);
    });
  }

  it('get a new key in an empty file while there is no database', () => {
    writeFileSync(file, '{"MALIPO_SECRET_KEYS": ""}');
    const { MALIPO_SECRET_KEYS: key } = demoSecrets(file, undefined);
    assert.match(key!, /^demo:./);
    assert.deepEqual(demoSecrets(file, '/the/cluster'), written());
  });

  it('have a separate attestation key, which is added to the file of an older version beside its database', () => {
    const { MALIPO_ATTESTATION_KEYS: attesting, ...older } = demoSecrets(file, undefined);
    const key = (ring: string) => ring.slice(ring.indexOf(':') + 1);
    assert.notEqual(key(attesting!), key(older['MALIPO_SECRET_KEYS']!));
    writeFileSync(file, JSON.stringify(older));
    const completed = demoSecrets(file, '/the/cluster');
    assert.match(completed['MALIPO_ATTESTATION_KEYS']!, /^demo:.{44}$/);
    assert.deepEqual(written(), completed);
    assert.deepEqual(demoSecrets(file, '/the/cluster'), completed);
  });

  it('are completed beside a database if only secrets between our own processes are missing', () => {
    const { MALIPO_SECRET_KEYS: key } = demoSecrets(file, undefined);
    writeFileSync(file, JSON.stringify({ MALIPO_SECRET_KEYS: key }));
    const completed = demoSecrets(file, '/the/cluster');
    assert.equal(completed['MALIPO_SECRET_KEYS'], key);
    assert.ok(completed['MALIPO_SANDBOX_MTN_COLLECTION_API_KEY']);
    assert.deepEqual(written(), completed);
  });

  for (const [what, text] of [
    ['is not JSON', '{"MALIPO_SECRET_KEYS": "demo:c2Vj'],
    ['has something other than texts', '{"MALIPO_SECRET_KEYS": 7}'],
  ] as const) {
    it(`are refused, not shown and left unchanged when their file ${what}`, () => {
      writeFileSync(file, text);
      assert.throws(
        () => demoSecrets(file, '/the/cluster'),
        ({ message }: Error) => {
          assert.match(message, /secrets\.json cannot be read: .* Put a copy of it back/);
          return !message.includes('c2Vj') && !message.includes('\n');
        },
      );
      assert.equal(readFileSync(file, 'utf8'), text);
    });
  }
});
