// Stored secrets are resealed with the first key, so that an older key can be removed.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { createReconciliationActivities } from '../../activities/reconciliation.ts';
import { REAL_CLOCKS } from '../../src/domain/clocks.ts';
import { findEndpointLocked, rotateEndpointSecret } from '../../src/db/webhooks/endpoint.ts';
import { setPendingTotp } from '../../src/db/accounts/user.ts';
import type { EndpointId, UserId } from '../../src/domain/ids.ts';
import { open, seal, type KeyRing } from '../../src/security/sealing.ts';
import { createLog } from '../../src/log.ts';
import { enrolMember } from '../../src/operations/accounts/enrol-member.ts';
import { registerEndpoint } from '../../src/operations/webhooks/register-endpoint.ts';
import { resealSecrets } from '../../src/operations/reseal-secrets.ts';
import { oneRow, untilOneWaits } from './rows.ts';
import { useDatabasePerCase, useMerchantPerCase } from './use-database.ts';
import { columnsOf } from '../support/values-of.ts';

const OLD = { name: 'old_key', key: createSecretKey(randomBytes(32)) };
const NEW = { name: 'new', key: createSecretKey(randomBytes(32)) };
const OLD_RING: KeyRing = [OLD];
const BOTH: KeyRing = [NEW, OLD];

type Sealed = {
  readonly id: string;
  readonly secret_sealed: string;
  readonly previous_secret_sealed: string | null;
};

describe('stored secrets', () => {
  const db = useDatabasePerCase();
  const merchant = useMerchantPerCase(db);

  async function addEndpoint(): Promise<{ id: EndpointId; secret: string }> {
    const endpoint = { url: 'https://shop.example/', description: null, eventTypes: null };
    return registerEndpoint(db, { merchantId: merchant.id, ...endpoint, keyRing: OLD_RING, at: new Date() });
  }

  async function addPerson(totpSecret: string | null): Promise<UserId> {
    return enrolMember(db, {
      merchantId: merchant.id,
      email: `${randomBytes(5).toString('hex')}@shop.example`,
      name: 'A person',
      passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
      roles: ['owner'],
      totpSecret,
      keyRing: OLD_RING,
      at: new Date(),
    });
  }

  const sealedOf = (id: EndpointId) =>
    oneRow<Sealed>(db, 'SELECT id, secret_sealed, previous_secret_sealed FROM endpoints WHERE id = $1', [id]);
  const rotate = (id: EndpointId, secret: string, keyRing: KeyRing) =>
    db.withTransaction((tx) =>
      rotateEndpointSecret(tx, id, {
        secretSealed: seal(secret, id, keyRing),
        previousUntil: new Date(Date.now() + 60_000),
        at: new Date(),
      }),
    );

  it('open with the new key alone once they are resealed, whatever their kind, and stay unchanged then', async () => {
    const endpoint = await addEndpoint();
    await rotate(endpoint.id, 'whsec_second', OLD_RING);
    const [enrolled, pending, neither] = [await addPerson('AAAA'), await addPerson(null), await addPerson(null)];
    await db.withTransaction((tx) => setPendingTotp(tx, pending, seal('BBBB', pending, OLD_RING)));
    assert.deepEqual(await resealSecrets(db, { keyRing: BOTH, limit: 100 }), { resealed: 4, left: 0, unopenable: 0 });
    const row = await sealedOf(endpoint.id);
    assert.equal(open(row.secret_sealed, endpoint.id, [NEW]), 'whsec_second');
    assert.equal(open(row.previous_secret_sealed!, endpoint.id, [NEW]), endpoint.secret);
    const { rows } = await db.pool.query<{ id: string; current: string | null; pending: string | null }>(
      'SELECT id, totp_secret_sealed AS current, totp_pending_sealed AS pending FROM users',
    );
    const opened = rows.map(({ id, current, pending: waiting }) => [
      id,
      current === null ? null : open(current, id, [NEW]),
      waiting === null ? null : open(waiting, id, [NEW]),
    ]);
    assert.deepEqual(
      opened.sort(),
      [
        [enrolled, 'AAAA', null],
        [pending, null, 'BBBB'],
        [neither, null, null],
      ].sort(),
    );
    assert.equal((await resealSecrets(db, { keyRing: BOTH, limit: 100 })).resealed, 0);
    assert.deepEqual(await sealedOf(endpoint.id), row);
  });

  it('are resealed in batches of at most the limit', async () => {
    for (let n = 0; n < 3; n++) await addEndpoint();
    const reseal = () => resealSecrets(db, { keyRing: BOTH, limit: 2 });
    assert.deepEqual(columnsOf([await reseal(), await reseal(), await reseal()], 'resealed', 'left'), [
      [2, 1],
      [1, 0],
      [0, 0],
    ]);
  });

  it('keep a rotation that happens during the reseal', async () => {
    const { id, secret } = await addEndpoint();
    let resealing: Promise<unknown> | undefined;
    const rotated = seal('whsec_rotated', id, OLD_RING);
    await db.withTransaction(async (tx) => {
      await findEndpointLocked(tx, merchant.id, id);
      resealing = resealSecrets(db, { keyRing: BOTH, limit: 100 });
      await untilOneWaits(db);
      await rotateEndpointSecret(tx, id, { secretSealed: rotated, previousUntil: null, at: new Date() });
    });
    assert.deepEqual(await resealing, { resealed: 0, left: 1, unopenable: 0 });
    assert.equal((await sealedOf(id)).secret_sealed, rotated);
    assert.notEqual(open(rotated, id, OLD_RING), secret);
    await resealSecrets(db, { keyRing: BOTH, limit: 100 });
    assert.equal(open((await sealedOf(id)).secret_sealed, id, [NEW]), 'whsec_rotated');
  });

  it('are left and counted when they cannot be opened, and do not block the others', async () => {
    const [lost, altered, intact] = [await addEndpoint(), await addEndpoint(), await addEndpoint()];
    const set = (id: EndpointId, sealed: string) =>
      db.pool.query('UPDATE endpoints SET secret_sealed = $2 WHERE id = $1', [id, sealed]);
    await set(lost.id, seal(lost.secret, lost.id, [{ name: 'lost', key: OLD.key }]));
    await set(altered.id, seal(altered.secret, intact.id, OLD_RING));
    const before = [await sealedOf(lost.id), await sealedOf(altered.id)];
    const result = await resealSecrets(db, { keyRing: BOTH, limit: 100 });
    assert.deepEqual(result, { resealed: 1, left: 2, unopenable: 2 });
    assert.deepEqual([await sealedOf(lost.id), await sealedOf(altered.id)], before);
    assert.equal(open((await sealedOf(intact.id)).secret_sealed, intact.id, [NEW]), intact.secret);
  });

  describe('in the sweep', () => {
    async function sweep(keyRing: KeyRing): Promise<Record<string, unknown>[]> {
      let text = '';
      const destination = { write: (line: string) => void (text += line) };
      const activities = createReconciliationActivities({
        db,
        clocks: REAL_CLOCKS,
        keyRing,
        attestationKeys: keyRing,
        log: createLog({ level: 'info', process: 'test', destination }),
      });
      // As in a worker, whose heartbeats go nowhere here.
      const context = { heartbeat: () => undefined } as unknown as Context;
      await asyncLocalStorage.run(context, () => activities.purgeExpiredRecords());
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    }

    it('are all resealed, and the log says when the older keys can be removed', async () => {
      // More secrets than one batch takes.
      await addEndpoint();
      await db.pool.query(
        `INSERT INTO endpoints (id, merchant_id, url, state, secret_sealed, created_at, updated_at)
         SELECT 'whe_0' || lpad(n::text, 25, '0'), $1, 'https://shop.example/', 'enabled', 'x', now(), now()
         FROM generate_series(1, 600) n`,
        [merchant.id],
      );
      const { rows } = await db.pool.query<{ id: string }>(`SELECT id FROM endpoints WHERE secret_sealed = 'x'`);
      const ids = rows.map(({ id }) => id);
      await db.pool.query(
        `UPDATE endpoints SET secret_sealed = r.sealed FROM unnest($1::text[], $2::text[]) AS r (id, sealed)
         WHERE endpoints.id = r.id`,
        [ids, ids.map((id) => seal('whsec_many', id, OLD_RING))],
      );
      const lines = await sweep(BOTH);
      const reported = lines.map(({ level, msg, resealed, left }) => [level, msg, resealed, left]);
      assert.deepEqual(reported, [['info', 'no stored secret needs an older key', 601, 0]]);
      assert.deepEqual(await sweep([NEW]), []);
    });

    it('are reported in the log as long as they cannot be opened', async () => {
      await addEndpoint();
      const [line] = await sweep([NEW]);
      assert.deepEqual([line?.['level'], line?.['unopenable']], ['error', 1]);
      const both = await sweep([NEW, { name: 'other', key: OLD.key }]);
      assert.deepEqual(columnsOf(both, 'level', 'left'), [
        ['error', undefined],
        ['info', 1],
      ]);
    });

    it('are erased after a rotation once their time is over', async () => {
      const { id } = await addEndpoint();
      await rotate(id, 'whsec_second', OLD_RING);
      await sweep(OLD_RING);
      assert.ok((await sealedOf(id)).previous_secret_sealed);
      await db.pool.query("UPDATE endpoints SET previous_secret_until = now() - interval '1 s'");
      await sweep(OLD_RING);
      assert.equal((await sealedOf(id)).previous_secret_sealed, null);
    });
  });
});
