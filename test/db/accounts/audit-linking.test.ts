// Obstacles to the links and signatures of audit logs: only the application's account can make some, and they show.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { DatabaseError, type Client } from 'pg';
import { REPORTS } from '../../../src/db/platform/access.ts';
import { recordStaffAct } from '../../../src/db/accounts/audit.ts';
import { insertAuditHead, listRecordedChains, lockAuditChains } from '../../../src/db/accounts/audit-chain.ts';
import { measureAuditLag } from '../../../src/db/work/backlog.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { linkAuditEntries, signAuditHeads } from '../../../src/operations/accounts/link-audit-entries.ts';
import { verifyAudit } from '../../../src/operations/accounts/verify-audit.ts';
import { createAuditChains } from '../../../src/dispatcher/audit-chains.ts';
import type { AuditHead } from '../../../src/domain/accounts/audit-chain.ts';
import { createLog } from '../../../src/log.ts';
import { signAuditHead } from '../../../src/security/audit-signature.ts';
import type { KeyRing } from '../../../src/security/sealing.ts';
import { postgres } from '../../support/engines.ts';
import { AMINA } from '../../support/staff.ts';
import { tamper } from '../rows.ts';
import { useDatabasePerCase, useMerchantPerCase } from '../use-database.ts';
import { valuesOf } from '../../support/values-of.ts';
import { withClient } from '../../support/one-client.ts';

const RING: KeyRing = [{ name: 'first', key: createSecretKey(randomBytes(32)) }];
const OTHER_RING: KeyRing = [{ name: 'first', key: createSecretKey(randomBytes(32)) }];
const LIMIT = 100;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('linking and signing audit logs', () => {
  const db = useDatabasePerCase();
  const merchant = useMerchantPerCase(db);

  const record = (at = new Date()) =>
    db.withTransaction((tx) => recordStaffAct(tx, merchant.id, AMINA, { action: 'a.done', subjectId: null, at }));
  const link = () => linkAuditEntries(db, LIMIT);
  const sign = (at = new Date()) => signAuditHeads(db, { ring: RING, at, limit: LIMIT });
  const faults = async (inMs = 0) => {
    const at = new Date(Date.now() + inMs);
    return (await verifyAudit(db, { chain: null, kept: [], ring: RING, at })).faults.join('\n');
  };

  it('continues while another account holds every lock that it can take', async () => {
    await asReports(db, async (reports) => {
      for (const sql of ['SELECT pg_advisory_lock(7261544020)', 'SELECT chain FROM audit_chains FOR UPDATE'])
        await assert.rejects(
          reports.query(sql),
          (error: unknown) => error instanceof DatabaseError && error.code === '42501',
        );
      await record();
      assert.equal(await link(), 1);
      assert.equal((await sign()).length, 1);
    });
  });

  it('runs in one process at a time; an entry that waits for minutes meanwhile is a fault and measured', async () => {
    await record();
    await db.withTransaction(async (tx) => {
      assert.equal(await lockAuditChains(tx), true);
      assert.deepEqual([await link(), await sign()], [0, []]);
      assert.equal(await faults(), '');
      assert.match(await faults(6 * MINUTE_MS), /1 entries have waited for their link for more than 5 minutes/);
    });
    await tamper(db, "UPDATE audit_entries_to_link SET queued_at = now() - interval '10 minutes'");
    const { unlinkedAgeMs } = await measureAuditLag(db);
    assert.ok(unlinkedAgeMs >= 10 * MINUTE_MS && unlinkedAgeMs < 2 * HOUR_MS, String(unlinkedAgeMs));
    await link();
    assert.equal((await measureAuditLag(db)).unlinkedAgeMs, 0);
  });

  it('signs within the hour; an entry that waits longer for its signature is a fault and measured', async () => {
    const at = new Date(Date.now() - 3 * HOUR_MS);
    await record(at);
    await link();
    assert.match(await faults(), new RegExp(`${merchant.id}: its entries since ${at.toISOString()} are not signed`));
    await tamper(db, "UPDATE audit_chains SET unsigned_since = now() - interval '3 hours' WHERE position > 0");
    const { unsignedAgeMs } = await measureAuditLag(db);
    assert.ok(unsignedAgeMs >= 3 * HOUR_MS && unsignedAgeMs < 5 * HOUR_MS, String(unsignedAgeMs));
    await sign();
    assert.equal(await faults(), '');
    assert.equal((await measureAuditLag(db)).unsignedAgeMs, 0);
  });

  it('is neither delayed nor satisfied by a head that somebody writes with another key', async () => {
    await record(new Date(Date.now() - 3 * HOUR_MS));
    await link();
    const [end] = (await listRecordedChains(db, merchant.id)).values();
    const forged = signAuditHead({ ...end!, signedAt: new Date('9998-01-01T00:00:00.000Z') }, OTHER_RING);
    await db.withTransaction((tx) => insertAuditHead(tx, forged));
    assert.match(await faults(), /signed by a key that is not configured[^]*its entries since \S+ are not signed/);
    await record();
    await link();
    assert.deepEqual(valuesOf(await sign(), 'position'), [2n]);
    assert.doesNotMatch(await faults(), /are not signed/);
  });

  it('goes on at the next entry after a head of this moment that is not ours, which the log names every minute', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'fatal', process: 'test', destination: { write: (line) => void lines.push(line) } });
    let nowMs = 0;
    const chains = createAuditChains({ db, ring: RING, log, nowMs: () => nowMs });
    const named = () => lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>);
    const forge = async (ring: KeyRing, change: Partial<AuditHead> = {}) => {
      const end = (await listRecordedChains(db, merchant.id))[0]!;
      const forged = { ...signAuditHead({ ...end, signedAt: new Date() }, ring), ...change };
      await db.withTransaction((tx) => insertAuditHead(tx, forged));
    };
    await record();
    await link();
    await forge(OTHER_RING);
    for (const expected of [1, 0]) {
      await chains.run();
      assert.deepEqual(
        named().map(({ chain, head }) => [chain, String(head).split(':')[0]]),
        Array<unknown>(expected).fill([merchant.id, '1']),
        'once a minute',
      );
    }
    await record();
    await chains.run();
    assert.match(await faults(), /^\S+ the head signed at entry 1 is signed by a key that is not configured/);
    nowMs += MINUTE_MS;
    await chains.run();
    assert.deepEqual(named(), [], 'the last head is ours');

    await record();
    await link();
    await forge(RING, { signature: randomBytes(64) });
    nowMs += MINUTE_MS;
    await chains.run();
    assert.equal(named().length, 1, 'our key, and not our signature');
  });

  it('is overdue by the oldest waiting entry, whatever the time of an earlier entry', async () => {
    await record(new Date('9998-01-01T00:00:00.000Z'));
    const at = new Date(Date.now() - 3 * HOUR_MS);
    await record(at);
    await link();
    assert.match(await faults(), new RegExp(`its entries since ${at.toISOString()} are not signed`));
  });
});

async function asReports(db: Database, work: (client: Client) => Promise<void>): Promise<void> {
  const { rows } = await db.pool.query<{ name: string }>('SELECT current_database() AS name');
  await withClient((await postgres()).urlFor(rows[0]!.name, REPORTS), work);
}
