// Sessions of people in the console: their fields and how long they last.
import type { SessionId } from '../ids.ts';
import { requiresSecondFactor, type Person, type Role } from './member.ts';

/** A live session. The person's roles are read at each request, so they are always the current ones. */
export type Session = {
  readonly id: SessionId;
  readonly tokenSha256: Buffer;
  readonly person: Person;
  readonly name: string;
  readonly email: string;
  readonly merchantName: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  /** The latest end of a session in any roles. `sessionExpiresAt` gives the end of this session. */
  readonly expiresAt: Date;
};

/** How a person was verified: by a second factor, or, without one, by the password alone. */
export type VerifiedBy = 'password' | 'one_time_code' | 'passkey' | 'recovery_code';

/** Null: not given. A person with a second factor who gave neither of these gave a one-time code. */
type GivenFactor = { readonly passkey: object | null; readonly recoveryCode?: string | null };

export function verifiedByOf({ passkey, recoveryCode = null }: GivenFactor, hasFactor: boolean): VerifiedBy {
  if (!hasFactor) return 'password';
  if (passkey !== null) return 'passkey';
  return recoveryCode === null ? 'one_time_code' : 'recovery_code';
}

/** The failed log-ins of a person between this session's log-in and the previous one. */
export type FailedLogIns = {
  readonly count: number;
  readonly lastAt: Date;
  /** Null: unknown. */
  readonly lastAddress: string | null;
};

/** A session in the list that its person sees. */
export type ListedSession = Pick<Session, 'id' | 'createdAt' | 'lastUsedAt'> & {
  readonly endsAt: Date;
  /** The address from which it was opened; null: unknown. */
  readonly address: string | null;
  /** The user agent of the browser; null: none. */
  readonly userAgent: string | null;
  /** Whether it is the session of the request. */
  readonly isCurrent: boolean;
};

export type SessionLimits = {
  /** A session ends after this long without use. */
  readonly idleMs: number;
  /** A session ends this long after it was opened, however often it is used. */
  readonly lifeMs: number;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MONEY_LIMITS: SessionLimits = { idleMs: 30 * MINUTE_MS, lifeMs: 12 * HOUR_MS };
const READER_LIMITS: SessionLimits = { idleMs: 12 * HOUR_MS, lifeMs: 7 * 24 * HOUR_MS };

/** How many sessions a person may have at one merchant. A further log-in ends the least recently used one. */
export const MAX_SESSIONS_PER_MEMBER = 20;

export const LONGEST_SESSION_MS = READER_LIMITS.lifeMs;

/** The limits of a session in these roles. They are shorter for roles that require a second factor. */
export function sessionLimits(roles: readonly Role[]): SessionLimits {
  return requiresSecondFactor(roles) ? MONEY_LIMITS : READER_LIMITS;
}

type Ending = Pick<Session, 'createdAt' | 'lastUsedAt' | 'expiresAt'> & { readonly person: Pick<Person, 'roles'> };

/** When the session ends however often it is used. A role that the person gets meanwhile may bring it forward. */
export function sessionExpiresAt({ createdAt, expiresAt, person }: Ending): Date {
  return earlier(new Date(createdAt.getTime() + sessionLimits(person.roles).lifeMs), expiresAt);
}

/** When the session ends if it is not used again. */
export function sessionEndsAt(session: Ending): Date {
  const { idleMs } = sessionLimits(session.person.roles);
  return earlier(new Date(session.lastUsedAt.getTime() + idleMs), sessionExpiresAt(session));
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
