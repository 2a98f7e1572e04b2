// Recovery: a new password for a person who lost theirs or their second factor, when two of the service's staff agree.
import type { NamedPerson } from './member.ts';
import type { StaffName } from './staff.ts';

/** How long the token of a recovery is valid. */
export const RECOVERY_LIFE_MS = 24 * 60 * 60_000;

/** For how long people are told of a recovery when they log in, and of how many at the most. */
export const RECOVERY_NOTICE_MS = 7 * 24 * 60 * 60_000;
export const MAX_RECOVERY_NOTICES = 20;

export const RECOVERY_STEPS = ['requested', 'approved', 'used'] as const;

/** What people of a merchant are told about the recovery of one of them. */
export type RecoveryNotice = {
  readonly step: (typeof RECOVERY_STEPS)[number];
  readonly person: NamedPerson;
  /** Who of the service's staff; null for the use, which is the person's own. */
  readonly staff: StaffName | null;
  readonly at: Date;
};
