// The waiting time, in which a new approver or a recovered account moves no money; and the need for two owners.
import { stateConflict, type DomainError } from '../errors.ts';
import type { Environment } from '../event.ts';
import { permissionDenied } from './member.ts';
import type { Policy } from './policy.ts';

const HOUR_MS = 60 * 60_000;

/** The shortest waiting time: no policy makes it shorter. */
export const LEAST_WAITING_TIME_MS: Readonly<Record<Environment, number>> = { test: 0, live: 24 * HOUR_MS };

/** The moments from which the waiting time of a person counts. */
export type Beginnings = {
  /** Since when the person has held `owner` or `approver` without a gap; null: the person holds neither. */
  readonly approverSince: Date | null;
  /** When the account was last recovered; null: never. */
  readonly recoveredAt: Date | null;
};

export function waitingTimeMs(environment: Environment, { approverWaitMs }: Pick<Policy, 'approverWaitMs'>): number {
  return Math.max(LEAST_WAITING_TIME_MS[environment], approverWaitMs ?? 0);
}

/** When the waiting time of the person ends; null: there is none. */
export function movesMoneyFrom({ approverSince, recoveredAt }: Beginnings, waitMs: number): Date | null {
  const begunMs = Math.max(approverSince?.getTime() ?? 0, recoveredAt?.getTime() ?? 0);
  return waitMs === 0 || begunMs === 0 ? null : new Date(begunMs + waitMs);
}

/** Throws `permission_denied` before that moment. */
export function requireWaited(from: Date | null, at: Date): void {
  if (from !== null && at < from) throw permissionDenied(`moves no money before ${from.toISOString()}`);
}

const LEAST_OWNERS = 2;

/** Whether too few owners have a second factor for money to leave the merchant. In test one owner is enough. */
export function needsSecondOwner(environment: Environment, ownersWithFactor: number): boolean {
  return environment === 'live' && ownersWithFactor < LEAST_OWNERS;
}

export function secondOwnerNeeded(): DomainError {
  return stateConflict(
    'This merchant can send money only while two of its owners have a second factor. Ask an owner to invite a second owner.',
  );
}
