// The log-in of the service's staff, for one command each: what lets them in, and what does not.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import type { Database } from '../../../src/db/platform/database.ts';
import { newId } from '../../../src/domain/ids.ts';
import { parseStaffName, type StaffName } from '../../../src/domain/accounts/staff.ts';
import { logInStaff } from '../../../src/admin/staff-credentials.ts';
import { beginStaff, type StaffCredentials } from '../../../src/operations/accounts/enrol-staff.ts';
import { resealSecrets } from '../../../src/operations/reseal-secrets.ts';
import { codeOf, PASSWORD, passwordHash } from '../../support/people.ts';
import {
  addFirstStaff,
  addStaff,
  agree,
  AMINA,
  BRIAN,
  forgetUsedSteps,
  staffNamed,
  type TestStaff,
} from '../../support/staff.ts';
import { allRows, countRows, KEY_RING, oneRow, tamper } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';

const REFUSED = { code: 'permission_denied', message: /^Name, password or code is not right/ };

type Attempt = { readonly name?: string; readonly password?: string; readonly code?: string };

describe('one of the staff', () => {
  const db = useDatabasePerCase();
  beforeEach(() => addFirstStaff(db, KEY_RING));

  const logIn = (member: TestStaff, attempt: Attempt = {}, on: Database = db) =>
    logInStaff(on, {
      name: (attempt.name ?? member.name) as StaffName,
      password: attempt.password ?? PASSWORD,
      code: attempt.code ?? codeOf(member.totpSecret),
      command: 'settle',
      keyRing: KEY_RING,
    });
  const entries = () =>
    allRows<{ staff_id: string | null; outcome: string; reason: string | null }>(
      db,
      `SELECT staff_id, outcome, after ->> 'reason' AS reason FROM audit_entries
       WHERE action = 'staff.logged_in' ORDER BY id`,
    );

  it('logs in by password and code, which the audit log says with the command', async () => {
    assert.deepEqual(await logIn(AMINA), { id: AMINA.id, name: 'amina' });
    const entry = await oneRow(
      db,
      'SELECT merchant_id, staff_id, staff, action, outcome, subject_id, after FROM audit_entries',
    );
    assert.deepEqual(entry, {
      ...{ merchant_id: null, staff_id: AMINA.id, staff: 'amina', action: 'staff.logged_in', outcome: 'done' },
      ...{ subject_id: AMINA.id, after: { command: 'settle' } },
    });
  });

  it('uses each code once: a replay is refused, also of two at the same moment', async () => {
    const code = codeOf(AMINA.totpSecret);
    const both = await Promise.allSettled([logIn(AMINA, { code }), logIn(AMINA, { code })]);
    assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1);
    await assert.rejects(logIn(AMINA, { code }), REFUSED);
    await assert.rejects(logIn(AMINA, { code: codeOf(AMINA.totpSecret, -1) }), REFUSED);
    assert.equal((await logIn(AMINA, { code: codeOf(AMINA.totpSecret, 1) })).id, AMINA.id);
  });

  it('is refused in the same way for every fault, and the audit log has the reason', async () => {
    await assert.rejects(logIn(AMINA, { password: 'wrong horse battery staple' }), REFUSED);
    await assert.rejects(logIn(AMINA, { code: codeOf(BRIAN.totpSecret) }), REFUSED);
    await assert.rejects(logIn(AMINA, { name: 'nobody' }), REFUSED);
    assert.deepEqual(await entries(), [
      { staff_id: AMINA.id, outcome: 'refused', reason: 'wrong password' },
      { staff_id: AMINA.id, outcome: 'refused', reason: 'wrong or used one-time code' },
      { staff_id: null, outcome: 'refused', reason: 'nobody has this name, or their row is not attested' },
    ]);
    const { rowCount } = await db.pool.query("SELECT 1 FROM audit_entries e WHERE e::text LIKE '%nobody\"%'");
    assert.equal(rowCount, 0, 'what was typed as a name may be a password');
  });

  it('is refused after ten failures, even with the right password, and successes are not counted', async () => {
    await logIn(AMINA);
    for (let i = 0; i < 10; i++) await assert.rejects(logIn(AMINA, { code: '000000' }), REFUSED);
    await forgetUsedSteps(db, AMINA.id);
    for (let i = 0; i < 2; i++) await assert.rejects(logIn(AMINA), { code: 'rate_limited' });
    assert.equal((await logIn(BRIAN)).id, BRIAN.id);
    const reasons = (await entries()).map(({ reason }) => reason);
    assert.equal(reasons.filter((reason) => reason === 'too many failed attempts').length, 1);
  });

  it('cannot log in before they enrol, after a reset, or once they ended', async () => {
    const carol = await addStaff(db, 'carol');
    const dora = await addStaff(db, 'dora');
    for (const member of [carol, dora]) await forgetUsedSteps(db, member.id);
    await agree(db, { kind: 'staff_reset', payload: { member: carol.id, name: carol.name } });
    await agree(db, { kind: 'staff_end', payload: { member: dora.id, name: dora.name } });
    const esther = staffNamed('esther');
    await agree(db, { kind: 'staff_addition', payload: { name: esther.name } });
    for (const member of [carol, dora, esther]) await assert.rejects(logIn(member), REFUSED);
    const reasons = (await entries()).map(({ reason }) => reason);
    assert.deepEqual(reasons, ['is not enrolled', 'is ended', 'is not enrolled']);
  });

  it('does not get in by a row that somebody wrote or changed by hand', async () => {
    const frank = staffNamed('frank');
    await tamper(
      db,
      `INSERT INTO staff_members (id, name, state, added_by, confirmed_by, proposal_id, password_hash,
         totp_secret_sealed, totp_last_step, created_at, attestation)
       SELECT $1, $2, state, $3, $4, $5, password_hash, totp_secret_sealed, 1, created_at, attestation
       FROM staff_members WHERE name = 'amina'`,
      [frank.id, frank.name, AMINA.id, BRIAN.id, newId('spr')],
    );
    await assert.rejects(logIn({ ...frank, totpSecret: AMINA.totpSecret }), REFUSED);
    const changes = {
      name: "name = 'amina2'",
      'another password': `password_hash = '${await passwordHash()}x'`,
      'a code that is unused again': 'totp_last_step = totp_last_step - 1',
    };
    for (const [what, change] of Object.entries(changes)) {
      const before = await oneRow<Record<string, unknown>>(db, 'SELECT * FROM staff_members WHERE id = $1', [BRIAN.id]);
      await tamper(db, `UPDATE staff_members SET ${change} WHERE id = $1`, [BRIAN.id]);
      await assert.rejects(logIn(BRIAN, { name: what === 'name' ? 'amina2' : 'brian' }), REFUSED, what);
      const { name, password_hash: hash, totp_last_step: step } = before;
      const restore = 'UPDATE staff_members SET name = $2, password_hash = $3, totp_last_step = $4 WHERE id = $1';
      await tamper(db, restore, [BRIAN.id, name, hash, step]);
    }
    assert.equal((await logIn(BRIAN)).id, BRIAN.id);
  });

  it('keeps the secret of their codes through another key of the seal, and loses it to that of another row', async () => {
    const ring = [{ name: 'new', key: createSecretKey(randomBytes(32)) }, ...KEY_RING] as const;
    const carol = await addStaff(db, 'carol');
    assert.equal((await resealSecrets(db, { keyRing: ring, limit: 10 })).resealed, 3);
    await forgetUsedSteps(db, carol.id);
    const input = { name: carol.name, password: PASSWORD, code: codeOf(carol.totpSecret), command: 'settle' };
    assert.equal((await logInStaff(db, { ...input, keyRing: ring })).id, carol.id);
    await forgetUsedSteps(db, carol.id);
    const copy =
      "UPDATE staff_members SET totp_secret_sealed = (SELECT totp_secret_sealed FROM staff_members WHERE name = 'amina')";
    await tamper(db, `${copy} WHERE id = $1`, [carol.id]);
    const withAminas = { ...input, code: codeOf(AMINA.totpSecret), keyRing: ring };
    await assert.rejects(logInStaff(db, withAminas));
  });
});

describe('the first two of the staff', () => {
  const db = useDatabasePerCase();

  const begin = async (...names: [string, string]) => {
    const credentials = async (): Promise<StaffCredentials> => ({
      passwordHash: await passwordHash(),
      totpSecret: staffNamed('x1').totpSecret,
      totpLastStep: 1,
    });
    const [one, other] = names.map((name) => parseStaffName(name)!) as [StaffName, StaffName];
    const founders = [
      { name: one, ...(await credentials()) },
      { name: other, ...(await credentials()) },
    ] as const;
    return beginStaff(db, { founders, keyRing: KEY_RING, at: new Date() });
  };

  it('are made once, also by two runs at the same moment', async () => {
    const both = await Promise.allSettled([begin('amina', 'brian'), begin('carol', 'dora')]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const refused = both.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    assert.equal((refused.reason as { code: string }).code, 'state_conflict');
    await assert.rejects(begin('esther', 'frank'), { code: 'state_conflict' });
    assert.equal(await countRows(db, 'staff_members'), 2);
    assert.equal(await countRows(db, "audit_entries WHERE action = 'staff.begun' AND staff_id = subject_id"), 2);
  });

  it('are two people', async () => {
    await assert.rejects(begin('amina', 'amina'), /staff_members_name_key/);
    assert.equal(await countRows(db, 'staff_members'), 0);
  });
});
