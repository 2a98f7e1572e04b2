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
