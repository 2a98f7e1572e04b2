// Proposals: changes of a merchant's members or policy that take effect only when a second person approves them.
import type { MerchantId } from '../ids.ts';
import type { NamedPerson } from './member.ts';

/** What every proposal has, whatever it changes. */
export type Proposal<Id, State> = {
  readonly id: Id;
  readonly merchantId: MerchantId;
  readonly state: State;
  readonly proposedBy: NamedPerson;
  readonly createdAt: Date;
  /** Nobody can decide it from then on. */
  readonly expiresAt: Date;
  /** Null for an approval by the service's staff, and while nobody has decided. */
  readonly decidedBy: NamedPerson | null;
  readonly decidedAt: Date | null;
};

export const PROPOSAL_LIFE_MS = 7 * 24 * 60 * 60_000;
