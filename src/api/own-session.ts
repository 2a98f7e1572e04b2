// What the routes of a person's own session share: proving the password again, and answering with the new cookie.
import { addressLimit, personLimit } from '../security/attempt-limit.ts';
import { verifyPassword } from '../security/password.ts';
import { beginAuthentication } from '../operations/accounts/begin-authentication.ts';
import { getOwnSession } from '../queries/accounts/session.ts';
import { addressOf, sessionOf, type ApiDeps, type ApiMiddleware } from './context.ts';
import { sessionObject } from './schemas/accounts/session.ts';
import { sendSessionToken } from './session-cookie.ts';

type Context = Parameters<ApiMiddleware>[0];

export type OwnAttempt = {
  /** The hash that the password fits; null: none was given, or it does not fit. */
  readonly verifiedHash: string | null;
  /** What was counted, for the operation to take back when the proof is right. */
  readonly counted: readonly string[];
};

/** Counts the attempt and compares the password, if there is one. Throws `rate_limited`. */
export async function verifyOwnPassword(ctx: Context, { db }: ApiDeps, password: string | null): Promise<OwnAttempt> {
  const { userId } = sessionOf(ctx).person;
  const limits = [personLimit(userId), addressLimit(addressOf(ctx))];
  const user = await beginAuthentication(db, { of: { userId }, limits, at: new Date() });
  const passwordHash = user?.passwordHash ?? null;
  const isRight = password !== null && (await verifyPassword(passwordHash, password));
  return { verifiedHash: isRight ? passwordHash : null, counted: limits.map(({ subject }) => subject) };
}

/** Answers with the session as it is under the token, and gives the token to the browser. */
export async function answerSession(ctx: Context, deps: ApiDeps, token: string, status: 200 | 201): Promise<void> {
  const at = new Date();
  const session = await getOwnSession(deps.db, token, at);
  sendSessionToken(ctx, deps.publicUrl, token, session.expiresAt.getTime() - at.getTime());
  ctx.status = status;
  ctx.body = sessionObject(session, deps.environment);
}
