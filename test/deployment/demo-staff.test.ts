// The staff of the demonstration: two people, made at the first start, whose log-ins are in the data folder.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { logInStaff } from '../../src/admin/staff-credentials.ts';
import type { StaffName } from '../../src/domain/accounts/staff.ts';
import { seedDemoStaff, staffSettings } from '../../src/dev/demo-staff.ts';
import { KEY_RING, tamper } from '../db/rows.ts';
import { useDatabasePerCase } from '../db/use-database.ts';
import { runFolder } from '../support/engines.ts';
import { codeOf } from '../support/people.ts';

describe('the staff of the demonstration', () => {
  const db = useDatabasePerCase();
  const newFile = () => join(mkdtempSync(join(runFolder(), 'demo-')), 'demo-staff.json');

  it('are two people who can log in at once, and the same two at the next start', async () => {
    const file = newFile();
    const staff = await seedDemoStaff(db, file, KEY_RING);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    for (const { name, password, totpSecret } of staff) {
      const input = { name: name as StaffName, password, code: codeOf(totpSecret), command: 'settle' };
      assert.equal((await logInStaff(db, { ...input, keyRing: KEY_RING })).name, name);
    }
    assert.deepEqual(await seedDemoStaff(db, file, KEY_RING), staff);
    assert.deepEqual(Object.keys(staffSettings(staff)), [
      ...['MALIPO_STAFF_1_NAME', 'MALIPO_STAFF_1_PASSWORD', 'MALIPO_STAFF_1_TOTP_SECRET'],
      ...['MALIPO_STAFF_2_NAME', 'MALIPO_STAFF_2_PASSWORD', 'MALIPO_STAFF_2_TOTP_SECRET'],
    ]);
  });

  it('are created by the next start after an interrupted one, and missed if their file is gone', async () => {
    const file = newFile();
    const staff = await seedDemoStaff(db, file, KEY_RING);
    await tamper(db, 'DELETE FROM staff_members');
    assert.deepEqual(await seedDemoStaff(db, file, KEY_RING), staff);
    rmSync(file);
    await assert.rejects(seedDemoStaff(db, file, KEY_RING), /demo-staff.json is gone/);
  });
});
