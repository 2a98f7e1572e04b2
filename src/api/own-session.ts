// Shared by the routes of a person's own session: comparing the password again, and responding with a new cookie.
import type { ActedBy } from '../domain/accounts/member.ts';
import { addressLimit, personLimits } from '../security/attempt-limit.ts';
import type { ChallengeUse, PasskeyPurpose } from '../domain/accounts/passkey.ts';
import { readCredential, relyingPartyOf } from '../security/passkey.ts';
import { verifyPassword } from '../security/password.ts';
import { beginAuthentication } from '../operations/accounts/begin-authentication.ts';
import { getOwnSession } from '../operations/accounts/get-own-session.ts';
import type { KeyRing } from '../security/sealing.ts';
import type { GuessLimit } from './guess-limit.ts';
import type { RouteDeps, RouteResponse } from './route.ts';
import { sessionObject, type SessionObject } from './schemas/accounts/session.ts';
import { clearedSessionCookie, sessionCookie } from './session-cookie.ts';

export type AuthenticationDeps = RouteDeps & {
  readonly limitGuesses: GuessLimit;
  readonly keyRing: KeyRing;
};

export type OwnAttempt = {
  /** The hash that the password matches; null if no password was given or it does not match. */
  readonly verifiedHash: string | null;
  /** The attempt counters that counted this attempt, for the operation to reset when the attempt succeeds. */
  readonly counted: readonly string[];
};

/** Counts the attempt, compares the password if there is one, and completes the attempt. Throws `rate_limited`. */
export async function attemptInSession<Result>(
  { db, limitGuesses }: AuthenticationDeps,
  { person: { userId, merchantId }, address, requestId }: ActedBy,
  password: string | null,
  complete: (attempt: OwnAttempt) => Promise<Result>,
): Promise<Result> {
  return limitGuesses(userId, async () => {
    const limits = [...personLimits(userId), addressLimit(address)];
    const claim = { userId, merchantId };
    const user = await beginAuthentication(db, { claim, limits, address, requestId, at: new Date() });
    const passwordHash = user?.passwordHash ?? null;
    const isRight = password !== null && (await verifyPassword(passwordHash, password));
    return complete({ verifiedHash: isRight ? passwordHash : null, counted: limits.map(({ subject }) => subject) });
  });
}

/** The response of a passkey that the browser returned, for the operation to verify. */
export function passkeyAttempt(
  { publicUrl }: Pick<RouteDeps, 'publicUrl'>,
  text: string,
  purpose: PasskeyPurpose,
  subject: ChallengeUse['subject'],
) {
  return { given: readCredential(text), rp: relyingPartyOf(publicUrl), use: { purpose, subject } };
}

/** The response that ends the current session: the browser drops the cookie and the stored data of the session. */
export function endedSessionResponse({ publicUrl }: Pick<RouteDeps, 'publicUrl'>) {
  return { setCookie: clearedSessionCookie(publicUrl), clearsSiteData: true } as const;
}

export type OwnSessionDeps = AuthenticationDeps & {
  /** The ids of the operations that need a step-up, from the descriptions of all routes. */
  readonly stepUpOperations: () => readonly string[];
};

/** The session under this token, as its person sees it. Throws `permission_denied` if it has ended. */
export async function ownSessionObject(deps: OwnSessionDeps, token: string, at: Date): Promise<SessionObject> {
  const { db, environment } = deps;
  const session = await getOwnSession(db, token, environment, at);
  return sessionObject(session, { environment, stepUpOperations: deps.stepUpOperations() });
}

/** The session under this token, with the cookie that gives the token to the browser. */
export async function sessionResponse(deps: OwnSessionDeps, token: string): Promise<RouteResponse> {
  const at = new Date();
  const body = await ownSessionObject(deps, token, at);
  return { body, setCookie: sessionCookie(deps.publicUrl, token, Date.parse(body.expires_at) - at.getTime()) };
}
