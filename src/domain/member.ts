// Members of a merchant: their roles and what each role may do.
import type { MerchantId, UserId } from './ids.ts';
import type { Currency } from './money.ts';

export const ROLES = ['owner', 'admin', 'developer', 'maker', 'approver', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** A person who acts for one merchant in a session. */
export type Person = {
  readonly userId: UserId;
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly roles: readonly Role[];
  readonly hasSecondFactor: boolean;
  /** When this session last proved its second factor; null: never, or there is none. */
  readonly secondFactorAt: Date | null;
};

/** Who acts, and from where: what the audit log keeps of a caller. */
export type ActedBy = {
  readonly person: Person;
  readonly address: string | null;
  readonly requestId: string;
};

/** Whether one of the wanted roles is among those held. An owner holds every role. */
export function holdsOneOf(held: readonly Role[], wanted: readonly Role[]): boolean {
  return held.includes('owner') || wanted.some((role) => held.includes(role));
}

/** Whether the session proved the second factor within the last five minutes. Never true of a person who has none. */
export function hasFreshSecondFactor(person: Person, now: Date): boolean {
  if (!person.hasSecondFactor || person.secondFactorAt === null) return false;
  const ageMs = now.getTime() - person.secondFactorAt.getTime();
  return ageMs >= 0 && ageMs < 5 * 60_000;
}
