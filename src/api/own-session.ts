// What the routes of a person's own session share: they compare the password again, and respond with a new cookie.
import { sessionExpiresAt } from '../domain/accounts/session.ts';
import type { ActedBy } from '../domain/accounts/member.ts';
import { addressLimit, personLimit } from '../security/attempt-limit.ts';
import { verifyPassword } from '../security/password.ts';
import { beginAuthentication } from '../operations/accounts/begin-authentication.ts';
import { getOwnSession } from '../queries/accounts/session.ts';
import type { ApiDeps } from './context.ts';
import type { RouteResponse } from './route.ts';
import { sessionObject } from './schemas/accounts/session.ts';
import { sessionCookie } from './session-cookie.ts';

export type OwnAttempt = {
  /** The hash that the password fits; null when no password was given or it does not fit. */
  readonly verifiedHash: string | null;
  /** The attempt counters that counted this attempt, for the operation to reset when the attempt succeeds. */
  readonly counted: readonly string[];
};

/** Counts the attempt and compares the password, if there is one. Throws `rate_limited`. */
export async function verifyOwnPassword(
  { db }: ApiDeps,
  { person: { userId }, address }: ActedBy,
  password: string | null,
): Promise<OwnAttempt> {
  const limits = [personLimit(userId), addressLimit(address)];
  const user = await beginAuthentication(db, { of: { userId }, limits, at: new Date() });
  const passwordHash = user?.passwordHash ?? null;
  const isRight = password !== null && (await verifyPassword(passwordHash, password));
  return { verifiedHash: isRight ? passwordHash : null, counted: limits.map(({ subject }) => subject) };
}

/** The session under this token, with the cookie that gives the token to the browser. */
export async function sessionResponse({ db, publicUrl, environment }: ApiDeps, token: string): Promise<RouteResponse> {
  const at = new Date();
  const session = await getOwnSession(db, token, at);
  const setCookie = sessionCookie(publicUrl, token, sessionExpiresAt(session).getTime() - at.getTime());
  return { body: sessionObject(session, environment), setCookie };
}
