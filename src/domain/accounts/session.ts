// Sessions of people in the console: what they hold and how long they live.
import type { Person } from './member.ts';

/** A session that lives, with its person and their roles of this moment. */
export type Session = {
  readonly tokenSha256: Buffer;
  readonly person: Person;
  readonly name: string;
  readonly email: string;
  readonly merchantName: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
};

/** Unused for so long, a session is over. */
export const SESSION_IDLE_MS = 12 * 60 * 60_000;
/** Over then, however much it is used. */
export const SESSION_LIFE_MS = 7 * 24 * 60 * 60_000;

/** When a session that was last used at `lastUsedAt` ends, if it is not used again. */
export function sessionEndsAt(session: { readonly lastUsedAt: Date; readonly expiresAt: Date }): Date {
  return new Date(Math.min(session.lastUsedAt.getTime() + SESSION_IDLE_MS, session.expiresAt.getTime()));
}
