// The two staff members of the demonstration, for the staff's commands; kept in a file that only this user can read.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { listStaff } from '../db/accounts/staff-member.ts';
import type { Database } from '../db/platform/database.ts';
import { parseStaffName } from '../domain/accounts/staff.ts';
import { writePrivateFile } from '../engines/process/private-file.ts';
import { beginStaff } from '../operations/accounts/enrol-staff.ts';
import { hashPassword } from '../security/password.ts';
import type { KeyRing } from '../security/sealing.ts';
import { generateTotpSecret, totpStepAt } from '../security/totp.ts';
import { readJsonFile } from './json-file.ts';

const personSchema = z.object({ name: z.string(), password: z.string(), totpSecret: z.string() });
const staffSchema = z.tuple([personSchema, personSchema]);

type DemoStaffMember = z.infer<typeof personSchema>;
export type DemoStaff = z.infer<typeof staffSchema>;

const NAMES = ['asha', 'otieno'] as const;
const PASSWORD_BYTES = 15;
/** Two codes are still valid: the code of this step and the next one. */
const STEPS_BEFORE_NOW = 1;

/** The staff of an earlier start, or new ones. The file is written first: an interrupted start loses no password. */
export async function seedDemoStaff(db: Database, file: string, keyRing: KeyRing): Promise<DemoStaff> {
  const remedy =
    'It holds the log-ins of the staff of the demonstration. Put a copy of it back, or remove the whole data folder and begin again.';
  const stored = readJsonFile(file, staffSchema, remedy);
  const staff: DemoStaff = stored ?? [newMember(NAMES[0]), newMember(NAMES[1])];
  if ((await listStaff(db)).length > 0) {
    if (stored === undefined) throw new Error(`${file} is gone. ${remedy}`);
    return stored;
  }
  if (stored === undefined) writePrivateFile(file, `${JSON.stringify(staff, null, 2)}\n`);
  const founders = [await founderOf(staff[0]), await founderOf(staff[1])] as const;
  await beginStaff(db, { founders, keyRing, at: new Date() });
  return staff;
}

function newMember(name: string): DemoStaffMember {
  return { name, password: randomBytes(PASSWORD_BYTES).toString('base64url'), totpSecret: generateTotpSecret() };
}

async function founderOf({ name: text, password, totpSecret }: DemoStaffMember) {
  const name = parseStaffName(text);
  if (name === null) throw new Error(`${text} is no name of one of the staff`);
  const totpLastStep = totpStepAt(new Date()) - STEPS_BEFORE_NOW;
  return { name, passwordHash: await hashPassword(password), totpSecret, totpLastStep };
}

export function staffSettings(staff: DemoStaff): Record<string, string> {
  const entries = staff.flatMap(({ name, password, totpSecret }, index) => [
    [`MALIPO_STAFF_${index + 1}_NAME`, name],
    [`MALIPO_STAFF_${index + 1}_PASSWORD`, password],
    [`MALIPO_STAFF_${index + 1}_TOTP_SECRET`, totpSecret],
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}
