// A demo merchant's two people: a maker and an approver, because a payout needs both.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../db/platform/database.ts';
import type { MerchantId, UserId } from '../domain/ids.ts';
import type { Role } from '../domain/accounts/member.ts';
import { hashPassword } from '../security/password.ts';
import type { KeyRing } from '../security/sealing.ts';
import { generateTotpSecret } from '../security/totp.ts';
import { enrolMember } from '../operations/accounts/enrol-member.ts';

const personSchema = z.object({ email: z.string(), password: z.string(), totpSecret: z.string() });
export const demoPeopleSchema = z.object({ maker: personSchema, approver: personSchema });

type DemoPerson = z.infer<typeof personSchema>;
export type DemoPeople = z.infer<typeof demoPeopleSchema>;

const PASSWORD_BYTES = 15;

/** Adds two people with their own passwords and second factors; returns them and the maker's id. */
export async function addDemoPeople(
  db: Database,
  merchantId: MerchantId,
  keyRing: KeyRing,
): Promise<{ readonly people: DemoPeople; readonly makerId: UserId }> {
  const enrol = async (name: string, emailPrefix: string, roles: readonly Role[]) => {
    // A new address each time: an interrupted start may have left a person whose password was never saved.
    const email = `${emailPrefix}-${randomBytes(3).toString('hex')}@demo.example`;
    const person: DemoPerson = {
      email,
      password: randomBytes(PASSWORD_BYTES).toString('base64url'),
      totpSecret: generateTotpSecret(),
    };
    const passwordHash = await hashPassword(person.password);
    const { totpSecret } = person;
    const id = await enrolMember(db, {
      merchantId,
      email,
      name,
      passwordHash,
      roles,
      totpSecret,
      keyRing,
      at: new Date(),
    });
    return { person, id };
  };
  const maker = await enrol('Demo maker', 'maker', ['maker', 'developer']);
  const approver = await enrol('Demo approver', 'approver', ['approver', 'admin']);
  return { people: { maker: maker.person, approver: approver.person }, makerId: maker.id };
}

/** `prefix`: what the names of the merchant's settings begin with. */
export function peopleSettings({ maker, approver }: DemoPeople, prefix: string): Record<string, string> {
  return { ...settingsOf(`${prefix}MAKER`, maker), ...settingsOf(`${prefix}APPROVER`, approver) };
}

function settingsOf(person: string, { email, password, totpSecret }: DemoPerson): Record<string, string> {
  return {
    [`${person}_EMAIL`]: email,
    [`${person}_PASSWORD`]: password,
    [`${person}_TOTP_SECRET`]: totpSecret,
  };
}
