// Sessions of people in the console: what they hold and how long they last.
import type { Person } from './member.ts';

/** A live session. The person's roles are read at each request, so they are always the current ones. */
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

/** A session ends after this long without use. */
export const SESSION_IDLE_MS = 12 * 60 * 60_000;
/** A session ends this long after it was opened, however much it is used. */
export const SESSION_LIFE_MS = 7 * 24 * 60 * 60_000;

/** When a session that was last used at `lastUsedAt` ends, if it is not used again. */
export function sessionEndsAt(session: { readonly lastUsedAt: Date; readonly expiresAt: Date }): Date {
  return new Date(Math.min(session.lastUsedAt.getTime() + SESSION_IDLE_MS, session.expiresAt.getTime()));
}
