// Recovery: a new password for a person who lost their password or second factor, with the consent of two of the staff.
import type { NamedPerson } from './member.ts';
import type { StaffName } from './staff.ts';

/** How long the token of a recovery is valid. */
export const RECOVERY_LIFE_MS = 24 * 60 * 60_000;

/** How long and of how many recoveries people are told when they log in. */
export const RECOVERY_NOTICE_MS = 7 * 24 * 60 * 60_000;
export const MAX_RECOVERY_NOTICES = 20;

export const RECOVERY_STEPS = ['requested', 'approved', 'used'] as const;

/** The notice to people of a merchant about the recovery of one of them. */
export type RecoveryNotice = {
  readonly step: (typeof RECOVERY_STEPS)[number];
  readonly person: NamedPerson;
  /** The member of the staff; null for the use, because the person used the token. */
  readonly staff: StaffName | null;
  readonly at: Date;
};
