// The hash chains of audit logs: every entry gets its link, and whatever is changed by hand afterwards is found.
import assert from 'node:assert/strict';
import { createHash, createPublicKey, createSecretKey, randomBytes, verify } from 'node:crypto';
import { recordStaffAct } from '../../../src/db/accounts/audit.ts';
import { listRecordedChains, listLinkedEntries, listUnlinkedEntries } from '../../../src/db/accounts/audit-chain.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { createAuditChains } from '../../../src/dispatcher/audit-chains.ts';
import { auditLine, CHAIN_START } from '../../../src/domain/accounts/audit-chain.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import { createLog } from '../../../src/log.ts';
import { linkAuditEntries, signAuditHeads } from '../../../src/operations/accounts/link-audit-entries.ts';
import { exportAudit, verifyAudit, type KeptHead } from '../../../src/operations/accounts/verify-audit.ts';
import { hashAuditLine, signAuditHead } from '../../../src/security/audit-signature.ts';
import type { KeyRing } from '../../../src/security/sealing.ts';
import { postgres } from '../../support/engines.ts';
import { makeMerchant } from '../rows.ts';
import { AMINA } from '../../support/staff.ts';
import { useDatabasePerCase, useMerchantPerCase } from '../use-database.ts';
import { columnsOf, valuesOf } from '../../support/values-of.ts';
import { withClient } from '../../support/one-client.ts';

const RING: KeyRing = [{ name: 'first', key: createSecretKey(randomBytes(32)) }];
const OTHER_RING: KeyRing = [{ name: 'first', key: createSecretKey(randomBytes(32)) }];
const MONDAY = new Date('2026-11-23T10:00:00.000Z');
const WITHIN_THE_HOUR = new Date('2026-11-23T11:00:00.000Z');
const AFTER_THE_HOUR = new Date('2026-11-23T11:00:00.001Z');
const TUESDAY = new Date('2026-11-24T00:00:00.000Z');
const LIMIT = 100;
/** To the entry before the last of four. */
const SET_BACK = `UPDATE audit_chains c SET position = 3, hash = l.hash
  FROM audit_links l WHERE l.chain = c.chain AND c.position = 4 AND l.position = 3`;

type ExportedEntry = { readonly position: number; readonly previous: string; readonly action: string };

describe('the hash chain of an audit log', () => {
  const db = useDatabasePerCase();
  const merchant = useMerchantPerCase(db);

  const record = (action: string, of: MerchantId | null = merchant.id, after: object | null = { amount: 5 }) =>
    db.withTransaction((tx) => recordStaffAct(tx, of, AMINA, { action, subjectId: null, after, at: MONDAY }));
  const link = () => linkAuditEntries(db, LIMIT);
  const sign = (at: Date, ring = RING) => signAuditHeads(db, { ring, at, limit: LIMIT });
  const faults = async (kept: readonly KeptHead[] = [], ring = RING) =>
    (await verifyAudit(db, { chain: kept.length > 0 ? merchant.id : null, kept, ring, at: MONDAY })).faults;

  async function recordLinked(...actions: readonly string[]): Promise<void> {
    for (const action of actions) await record(action);
    await link();
  }

  async function exported(after = 0n): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of exportAudit(db, merchant.id, after)) lines.push(line);
    return lines;
  }

  it('has each entry of the merchant in order, with the hash of the one before', async () => {
    const other = await makeMerchant(db);
    await record('a.done');
    await record('b.done', other);
    await record('c.done', null);
    await record('d.done', merchant.id, null);
    assert.equal(await link(), 4);
    assert.equal(await link(), 0);
    const lines = await exported();
    const entries = lines.map((line) => JSON.parse(line) as ExportedEntry);
    assert.deepEqual(columnsOf(entries, 'position', 'action', 'previous'), [
      [1, 'a.done', '0'.repeat(64)],
      [2, 'd.done', createHash('sha256').update(lines[0]!).digest('hex')],
    ]);
    assert.deepEqual(await exported(1n), lines.slice(1));
    const {
      chains,
      entries: verified,
      waiting,
      faults: found,
    } = await verifyAudit(db, {
      chain: null,
      kept: [],
      ring: RING,
      at: MONDAY,
    });
    assert.deepEqual([chains, verified, waiting, found], [3, 4, 0, []]);
  });

  it('has no gap and no fork when several processes link at once', async () => {
    for (let count = 0; count < 40; count++) await record(`act.${count}`);
    for (let linked = 0; linked < 40;) {
      const each = await Promise.all([1, 2, 3, 4].map(() => linkAuditEntries(db, 3)));
      linked += each.reduce((sum, count) => sum + count, 0);
    }
    assert.deepEqual(await faults(), []);
    assert.equal((await exported()).length, 40);
  });

  it('has an entry whose transaction commits after a later one was linked', async () => {
    await db.withTransaction(async (tx) => {
      await recordStaffAct(tx, merchant.id, AMINA, { action: 'late.done', subjectId: null, at: MONDAY });
      await recordLinked('early.done');
    });
    assert.equal((await verifyAudit(db, { chain: merchant.id, kept: [], ring: RING, at: MONDAY })).waiting, 1);
    await link();
    const actions = (await exported()).map((line) => (JSON.parse(line) as ExportedEntry).action);
    assert.deepEqual(actions, ['early.done', 'late.done']);
    assert.deepEqual(await faults(), []);
  });

  it('is signed once an hour, if there is something new, and can be verified with the public key alone', async () => {
    await recordLinked('a.done', 'b.done');
    const [head] = await sign(MONDAY);
    assert.deepEqual([head!.chain, head!.position], [merchant.id, 2n]);
    await recordLinked('c.done');
    assert.deepEqual(await sign(WITHIN_THE_HOUR), []);
    assert.deepEqual(valuesOf(await sign(AFTER_THE_HOUR), 'position'), [3n]);
    assert.deepEqual(await sign(new Date('2026-11-26T00:00:00.000Z')), []);
    assert.deepEqual(await faults(), []);

    const signed = JSON.parse((await exported())[2]!) as Record<string, string>;
    assert.equal(signed['type'], 'head');
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: signed['public_key']! },
      format: 'jwk',
    });
    const parts = ['malipo: head of an audit log', merchant.id, 2, signed['hash'], signed['signed_at']];
    const signature = Buffer.from(signed['signature']!, 'base64url');
    assert.ok(verify(null, Buffer.from(JSON.stringify(parts)), key, signature));
  });

  it('verifies heads that an older key signed for as long as that key is configured', async () => {
    await recordLinked('a.done');
    await sign(MONDAY);
    const rotated: KeyRing = [OTHER_RING[0], RING[0]];
    await recordLinked('b.done');
    await sign(TUESDAY, rotated);
    assert.deepEqual(await faults([], rotated), []);
    assert.match((await faults([], OTHER_RING)).join('\n'), /entry 1 is signed by a key that is not configured/);
  });

  it('logs each signed head, for a copy of the log outside the database', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', process: 'test', destination: { write: (line) => void lines.push(line) } });
    await record('a.done');
    await createAuditChains({ db, ring: RING, log }).run();
    const [end] = await listRecordedChains(db, null);
    const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(columnsOf(said, 'chain', 'head'), [[merchant.id, `1:${end!.hash.toString('hex')}`]]);
  });

  describe('once somebody with the database has', () => {
    let kept: KeptHead;
    beforeEach(async () => {
      await recordLinked('a.done', 'b.done', 'c.done');
      const [head] = await sign(MONDAY);
      kept = head!;
      await recordLinked('d.done');
      assert.deepEqual(await faults([kept]), []);
    });

    const cases: readonly (readonly [what: string, sql: string, expected: RegExp])[] = [
      [
        'changed what an entry says',
        `UPDATE audit_entries SET after = '{"amount":6}' WHERE action = 'b.done'`,
        /entry 2 is not as it was recorded/,
      ],
      [
        'changed who an entry names',
        `UPDATE audit_entries SET request_id = 'req_1' WHERE action = 'd.done'`,
        /entry 4 is not as it was recorded/,
      ],
      [
        'changed who of the staff acted',
        `UPDATE audit_entries SET staff = 'brian' WHERE action = 'a.done'`,
        /entry 1 is not as it was recorded/,
      ],
      ['removed an entry', `DELETE FROM audit_entries WHERE action = 'b.done'`, /entry 2 is missing/],
      [
        'removed an entry with its link',
        `DELETE FROM audit_links WHERE position = 2; DELETE FROM audit_entries WHERE action = 'b.done'`,
        /entries 2 to 2 are missing/,
      ],
      [
        'removed the last entry with its link',
        `DELETE FROM audit_links WHERE position = 4; DELETE FROM audit_entries WHERE action = 'd.done'`,
        /the log records 4 entries, and 3 were found/,
      ],
      [
        'added an entry that waits for no link',
        `INSERT INTO audit_entries (merchant_id, action, outcome, created_at)
         SELECT merchant_id, 'e.done', 'done', now() FROM audit_entries WHERE action = 'd.done'`,
        /1 entries have no link in their log, and no link is pending/,
      ],
      [
        'moved a head',
        `UPDATE audit_heads SET signed_at = signed_at + interval '1 day'`,
        /the head signed at entry 3 has a wrong signature/,
      ],
      [
        'removed the entry of a head',
        `DELETE FROM audit_links WHERE position = 3`,
        /a signed head belongs to no entry/,
      ],
      [
        'taken an entry from its merchant',
        `UPDATE audit_entries SET merchant_id = NULL WHERE action = 'b.done'`,
        /entry 2 belongs to another log/,
      ],
      [
        'taken an entry from its merchant, and linked it elsewhere',
        `UPDATE audit_entries SET merchant_id = NULL WHERE action = 'd.done';
         UPDATE audit_chains SET position = 1, hash = (SELECT hash FROM audit_links WHERE position = 4) WHERE chain = 'service';
         UPDATE audit_links SET chain = 'service', position = 1 WHERE position = 4;
         ${SET_BACK}`,
        /service: entry 1 is not as it was recorded/,
      ],
      [
        'changed an entry and set the end of its log back',
        `UPDATE audit_entries SET after = '{"amount":6}' WHERE action = 'd.done'; ${SET_BACK}`,
        /the log records 3 entries, and 4 were found/,
      ],
      [
        'changed an entry and removed the record of its log',
        `UPDATE audit_entries SET after = '{"amount":6}' WHERE action = 'd.done'; DELETE FROM audit_chains`,
        /entry 4 is not as it was recorded/,
      ],
      [
        'removed the links of the whole log with its entries',
        'DELETE FROM audit_links; DELETE FROM audit_entries; DELETE FROM audit_chains',
        /a signed head belongs to no entry/,
      ],
    ];
    for (const [what, sql, expected] of cases) {
      it(`${what}, the chain shows it`, async () => {
        await asSuperuser(db, sql);
        assert.match((await faults()).join('\n'), expected);
      });
    }

    it('linked an entry into the log of nobody, that log and that of its merchant show it', async () => {
      const nobody = 'mer_00000000000000000000000000' as unknown as MerchantId;
      await record('policy.changed');
      const [entry] = await listUnlinkedEntries(db, 1);
      const place = { chain: nobody, position: 1n, previous: CHAIN_START.toString('hex') };
      await asSuperuser(
        db,
        `WITH chain AS (INSERT INTO audit_chains (chain, position, hash) VALUES ('${nobody}', 1, $1)),
           link AS (INSERT INTO audit_links (chain, position, entry_id, hash) VALUES ('${nobody}', 1, $2, $1))
         DELETE FROM audit_entries_to_link`,
        [hashAuditLine(auditLine(entry!, place)), entry!.id],
      );
      await sign(TUESDAY);
      assert.match((await faults()).join('\n'), /mer_0{26}: entry 1 belongs to another log/);
      // That of its merchant, which is verified alone as soon as a head was kept.
      assert.match((await faults([kept])).join('\n'), /1 entries have no link in their log, and no link is pending/);
    });

    it('linked an entry twice, the log shows it', async () => {
      const [, entry] = (await listLinkedEntries(db, merchant.id, 0n, LIMIT)).map((linked) => linked.entry);
      const { rows } = await asSuperuser(db, 'SELECT hash FROM audit_links WHERE position = 4');
      const previous = (rows[0]!['hash'] as Buffer).toString('hex');
      await asSuperuser(db, 'ALTER TABLE audit_links DROP CONSTRAINT audit_links_entry_id_key');
      await asSuperuser(
        db,
        `WITH chain AS (UPDATE audit_chains SET position = 5, hash = $1)
         INSERT INTO audit_links (chain, position, entry_id, hash) VALUES ($2, 5, $3, $1)`,
        [hashAuditLine(auditLine(entry!, { chain: merchant.id, position: 5n, previous })), merchant.id, entry!.id],
      );
      assert.match((await faults()).join('\n'), /1 entries have more than one link/);
    });

    it('taken an entry from its merchant, an export ends where it is', async () => {
      await asSuperuser(db, `UPDATE audit_entries SET merchant_id = NULL WHERE action = 'b.done'`);
      await assert.rejects(exported(), /entry 2 of mer_\w+ belongs to another log/);
    });

    it('changed an entry and computed all hashes again, the head that was signed shows it', async () => {
      await forgeFrom(`UPDATE audit_entries SET after = '{"amount":6}' WHERE action = 'b.done'`);
      assert.match((await faults()).join('\n'), /the head signed at entry 3 has another hash/);
    });

    it('signed the forged chain with a key of their own, the missing key shows it', async () => {
      await forgeFrom(`UPDATE audit_entries SET after = '{"amount":6}' WHERE action = 'b.done'`);
      const { rows } = await asSuperuser(db, 'SELECT hash FROM audit_links WHERE position = 3');
      const hash = rows[0]!['hash'] as Buffer;
      const forged = signAuditHead({ chain: merchant.id, position: 3n, hash, signedAt: MONDAY }, OTHER_RING);
      await asSuperuser(db, 'UPDATE audit_heads SET hash = $1, public_key = $2, signature = $3', [
        hash,
        forged.publicKey,
        forged.signature,
      ]);
      assert.match((await faults()).join('\n'), /signed by a key that is not configured/);
    });

    it('removed the end of the log and its head, a head that was kept elsewhere shows it', async () => {
      await asSuperuser(
        db,
        `DELETE FROM audit_heads; DELETE FROM audit_links WHERE position > 2;
         DELETE FROM audit_entries WHERE action IN ('c.done', 'd.done');
         UPDATE audit_chains c SET position = 2,
           hash = (SELECT hash FROM audit_links l WHERE l.chain = c.chain AND l.position = 2) WHERE c.position = 4`,
      );
      assert.deepEqual(await faults(), []);
      assert.match((await faults([kept])).join('\n'), /entry 3 of the kept head is missing/);
    });

    it('written another log and signed it with our own key, a head that was kept elsewhere shows it', async () => {
      await asSuperuser(
        db,
        `DELETE FROM audit_heads; DELETE FROM audit_links; DELETE FROM audit_entries_to_link; DELETE FROM audit_entries;
         UPDATE audit_chains SET position = 0, hash = decode(repeat('00', 32), 'hex')`,
      );
      await recordLinked('e.done', 'f.done', 'g.done', 'h.done');
      await sign(MONDAY);
      assert.doesNotMatch((await faults()).join('\n'), /recorded|head|missing/);
      assert.match((await faults([kept])).join('\n'), /entry 3 does not match the kept head/);
    });

    it('removed the whole log, a head that was kept elsewhere shows it', async () => {
      await asSuperuser(
        db,
        'DELETE FROM audit_heads; DELETE FROM audit_links; DELETE FROM audit_entries; DELETE FROM audit_chains',
      );
      assert.match((await faults([kept])).join('\n'), /the log does not exist/);
    });

    /** Changes entries, and then everything that is computed from them without a key. */
    async function forgeFrom(sql: string): Promise<void> {
      await asSuperuser(db, sql);
      const chain = merchant.id;
      let previous = CHAIN_START;
      for (let position = 1n; position <= 4n; position++) {
        const { rows } = await asSuperuser(
          db,
          `SELECT e.*, host(address) AS address FROM audit_links l JOIN audit_entries e ON e.id = l.entry_id WHERE position = $1`,
          [position],
        );
        const { id, merchant_id, user_id, api_key_id, subject_id, request_id, created_at, ...row } = rows[0]!;
        const entry = { ...row, id, merchantId: merchant_id, userId: user_id, apiKeyId: api_key_id };
        const whole = { ...entry, subjectId: subject_id, requestId: request_id, at: created_at };
        const line = auditLine(whole as unknown as Parameters<typeof auditLine>[0], {
          chain,
          position,
          previous: previous.toString('hex'),
        });
        previous = hashAuditLine(line);
        await asSuperuser(db, 'UPDATE audit_links SET hash = $1 WHERE position = $2', [previous, position]);
      }
      await asSuperuser(db, 'UPDATE audit_chains SET hash = $1', [previous]);
    }
  });
});

/** Runs statements that no trigger and no foreign key sees. */
async function asSuperuser(db: Database, sql: string, values?: readonly unknown[]) {
  const { rows } = await db.pool.query<{ name: string }>('SELECT current_database() AS name');
  return withClient((await postgres()).urlFor(rows[0]!.name), async (client) => {
    await client.query('SET session_replication_role = replica');
    return client.query<Record<string, unknown>>(sql, values && [...values]);
  });
}
