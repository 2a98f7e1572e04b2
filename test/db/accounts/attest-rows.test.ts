// The upkeep of attestations: another key, and rows that somebody wrote or changed by hand.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { putPolicy } from '../../../src/db/accounts/policy.ts';
import { findRoles } from '../../../src/db/accounts/member.ts';
import { findUser, setPassword } from '../../../src/db/accounts/user.ts';
import {
  ATTESTED_TABLES,
  attestedColumns,
  changeAttestedRow,
  type AttestedTable,
} from '../../../src/db/accounts/attested-rows.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { DEFAULT_POLICY } from '../../../src/domain/accounts/policy.ts';
import { newId, type MerchantId, type UserId } from '../../../src/domain/ids.ts';
import { attestRows, type AttestRows } from '../../../src/operations/accounts/attest-rows.ts';
import { createRowAttestor, type RowAttestor } from '../../../src/security/row-attestation.ts';
import { AMINA } from '../../support/staff.ts';
import { makeMember, makeMerchant, tamper, untilOneWaits } from '../rows.ts';
import { codeOr } from '../payments/payout-rows.ts';
import { useDatabasePerCase } from '../use-database.ts';

const key = (name: string) => ({ name, key: createSecretKey(randomBytes(32)) });
const [OLD, NEW] = [key('old'), key('new')];

function attestorWith(...keyRing: Parameters<typeof createRowAttestor>[0]['keyRing']): RowAttestor {
  return createRowAttestor({ environment: 'test', keyRing, report: () => undefined });
}

/** A new column of these tables is attested, or has a line here that says why not. */
const WITHOUT_ATTESTATION: Readonly<Record<string, string>> = {
  'api_keys.replaced_by': 'keeps a key from being rolled again',
  'ledger_checkpoints.checked_at': 'is shown to people',
  'members.created_at': 'is shown to people',
  'passkeys.counter': 'only rises, by a rule of the database',
  'passkeys.created_at': 'is shown to people',
  'passkeys.last_used_at': 'is shown to people',
  'passkeys.name': 'is shown to people',
  'policies.updated_at': 'is shown to people',
  'sessions.address': 'is shown to people',
  'sessions.failed_log_ins': 'is shown to people',
  'sessions.last_failed_address': 'is shown to people',
  'sessions.last_failed_at': 'is shown to people',
  'sessions.last_used_at': 'changes at every use: its end after so long in any case is attested',
  'sessions.user_agent': 'is shown to people',
  'staff_members.created_at': 'is shown to people',
  'users.created_at': 'is shown to people',
  'users.failed_log_ins': 'is shown to people',
  'users.last_failed_address': 'is shown to people',
  'users.last_failed_at': 'is shown to people',
  'users.totp_last_step': 'changes at every use: anyone who puts it back still needs the code',
  'users.totp_pending_sealed': 'is sealed for its row, and counts once its person confirmed it by a code',
};

describe('the attestations of rows', () => {
  const opened = useDatabasePerCase();
  const withKeys = (attestor: RowAttestor): Database => ({
    ...opened,
    attestor,
    withTransaction: (work) => opened.withTransaction((tx) => work({ ...tx, attestor })),
  });
  const [old, both, current] = [attestorWith(OLD), attestorWith(NEW, OLD), attestorWith(NEW)].map(
    (attestor) => () => withKeys(attestor),
  ) as [() => Database, () => Database, () => Database];
  let merchantId: MerchantId;
  let userId: UserId;

  beforeEach(async () => {
    merchantId = await makeMerchant(old());
    userId = await makeMember(old(), merchantId, ['owner']);
    await old().withTransaction((tx) => putPolicy(tx, merchantId, DEFAULT_POLICY, new Date()));
  });

  const attest = (db: Database, work: AttestRows['work']) => attestRows(db, { work, by: AMINA, at: new Date() });
  const tablesOf = ({ unattested }: Awaited<ReturnType<typeof attest>>) => unattested.map(({ table }) => table).sort();

  it('are renewed by the first key of the ring, so that the other ones can go', async () => {
    assert.equal(await codeOr(findRoles(current(), merchantId, userId)), 'permission_denied');
    assert.deepEqual(await findRoles(both(), merchantId, userId), ['owner']);
    assert.deepEqual(tablesOf(await attest(current(), 'verify')), ['members', 'policies', 'users']);
    assert.deepEqual(await attest(both(), 'renew'), { attested: 3, unattested: [] });
    assert.deepEqual(await findRoles(current(), merchantId, userId), ['owner']);
    assert.deepEqual(tablesOf(await attest(old(), 'verify')), ['members', 'policies', 'users']);
  });

  it('are never given to an unattested row, and the audit log says who renewed the others', async () => {
    for (const table of ['members', 'users'] as const) await tamper(opened, `UPDATE ${table} SET attestation = ''`);
    assert.deepEqual(tablesOf(await attest(old(), 'verify')), ['members', 'users']);
    assert.deepEqual(tablesOf(await attest(old(), 'renew')), ['members', 'users']);
    assert.equal(await codeOr(findRoles(old(), merchantId, userId)), 'permission_denied');
    const { rows } = await opened.pool.query('SELECT staff, action, after FROM audit_entries ORDER BY id DESC LIMIT 1');
    const after = { attested: 1, unattested: 2 };
    assert.deepEqual(rows, [{ staff: AMINA.name, action: 'attestations.renewed', after }]);
  });

  it('are given to no row that was changed by hand', async () => {
    await makeMember(old(), merchantId, ['owner']);
    await opened.pool.query("UPDATE members SET roles = '{viewer}' WHERE user_id = $1", [userId]);
    const { unattested } = await attest(old(), 'renew');
    assert.deepEqual(unattested, [{ table: 'members', key: `${merchantId} ${userId}` }]);
    assert.equal(await codeOr(findRoles(old(), merchantId, userId)), 'permission_denied');
  });

  it('do not come to name a passkey that somebody writes while its person’s row is attested', async () => {
    const db = old();
    const insert = `INSERT INTO passkeys (id, user_id, name, credential_id, public_key, counter, created_at)
      VALUES ($1, $2, 'Key', '\\x01', '\\x02', 0, now())`;
    const insertions: Promise<unknown>[] = [];
    await db.withTransaction((tx) =>
      changeAttestedRow(tx, 'users', [userId], async () => {
        insertions.push(opened.pool.query(insert, [newId('psk'), userId]));
        await untilOneWaits(opened);
      }),
    );
    await Promise.all(insertions);
    await assert.rejects(findUser(db, userId), { reason: 'the row of the account is not attested' });
  });

  it('are never given by a later change to a row that was written by hand', async () => {
    await opened.pool.query("UPDATE users SET email = 'thief@shop.example' WHERE id = $1", [userId]);
    const change = old().withTransaction((tx) =>
      setPassword(tx, userId, '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA'),
    );
    assert.equal(await codeOr(change), 'permission_denied');
    assert.deepEqual(tablesOf(await attest(old(), 'verify')), ['users']);
  });

  it('cover every column of their tables, except those that grant no right by themselves', async () => {
    const { rows } = await opened.pool.query<{ table: string; name: string }>(
      `SELECT table_name AS table, column_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = ANY ($1) AND column_name <> 'attestation' ORDER BY 1, 2`,
      [ATTESTED_TABLES],
    );
    const isCovered = (table: string, name: string) =>
      new RegExp(`\\bt\\.${name}\\b`).test(attestedColumns(table as AttestedTable));
    const others = rows
      .filter(({ table, name }) => !isCovered(table, name))
      .map(({ table, name }) => `${table}.${name}`);
    assert.deepEqual(others, Object.keys(WITHOUT_ATTESTATION).sort());
  });

  it('are of every table that the service attests', async () => {
    const { rows } = await opened.pool.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'attestation' ORDER BY 1",
    );
    // Approvals are attested with their payment; messages and queries of operators never change (operator-message.ts).
    const others = ['approvals', 'operator_callbacks', 'operator_queries', 'send_generations'];
    const names = rows.map(({ name }) => name).filter((name) => !others.includes(name));
    assert.deepEqual(names, [...ATTESTED_TABLES].sort());
  });
});
