// Sessions of people: log in, look, step up, change the password, log out.
import { accountLimit, addressLimit } from '../../../security/attempt-limit.ts';
import { permissionDenied } from '../../../domain/accounts/member.ts';
import { hashPassword, verifyPassword } from '../../../security/password.ts';
import { hashToken } from '../../../security/token.ts';
import { beginAuthentication } from '../../../operations/accounts/begin-authentication.ts';
import { changePassword } from '../../../operations/accounts/change-password.ts';
import { closeSession } from '../../../operations/accounts/close-session.ts';
import { getOwnSession } from '../../../queries/accounts/session.ts';
import { openSession } from '../../../operations/accounts/open-session.ts';
import { stepUpSession } from '../../../operations/accounts/step-up-session.ts';
import { consoleRoute, openConsoleRoute } from '../../console-route.ts';
import { addressOf, auditOf, sessionOf, type ApiDeps, type ApiMiddleware } from '../../context.ts';
import { answerSession, verifyOwnPassword } from '../../own-session.ts';
import { refuseOtherSites } from '../../middleware/session.ts';
import type { Route } from '../../route.ts';
import {
  changePasswordSchema,
  logInSchema,
  sessionObject,
  sessionSchema,
  stepUpSchema,
} from '../../schemas/accounts/session.ts';
import { clearSessionToken, readSessionToken } from '../../session-cookie.ts';
import { validate } from '../../validation.ts';

const TAG = 'session';
const PATH = '/v1/console/session';

export function sessionRoutes(deps: ApiDeps): Route[] {
  return [logInRoute(deps), lookRoute(deps), logOutRoute(deps), stepUpRoute(deps), passwordRoute(deps)];
}

function logInRoute(deps: ApiDeps): Route {
  return openConsoleRoute(
    {
      method: 'post',
      path: PATH,
      operationId: 'logIn',
      tag: TAG,
      summary: 'Log in',
      description:
        'The session comes as a cookie. Whatever is wrong (e-mail, password, a code that is missing, wrong or used), the ' +
        'answer is the same. A session that the request came with ends.',
      body: logInSchema,
      answer: { status: 201, description: 'Logged in.', schema: sessionSchema },
    },
    refuseOtherSites(deps),
    logIn(deps),
  );
}

function logIn(deps: ApiDeps): ApiMiddleware {
  return async (ctx) => {
    const { email, password, totp, merchant_id: merchantId } = validate(logInSchema, ctx.request.body);
    const address = addressOf(ctx);
    const at = new Date();
    const limits = [accountLimit(email), addressLimit(address)];
    const account = await beginAuthentication(deps.db, { of: { email }, limits, at });
    const isRight = await verifyPassword(account?.passwordHash ?? null, password);
    const previous = readSessionToken(ctx, deps.publicUrl);
    const opened = await openSession(deps.db, {
      account,
      verifiedHash: isRight ? (account?.passwordHash ?? null) : null,
      code: totp ?? null,
      merchantId: merchantId ?? null,
      previous: previous === null ? null : hashToken(previous),
      keyRing: deps.keyRing,
      counted: limits.map(({ subject }) => subject),
      address,
      requestId: ctx.state.requestId,
      at,
    });
    if (!opened) throw permissionDenied('log-in');
    await answerSession(ctx, deps, opened.token, 201);
  };
}

function lookRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'getSession',
      tag: TAG,
      summary: 'Whose session this is, and what it may do',
      answer: { status: 200, description: 'The session.', schema: sessionSchema },
    },
    async (ctx) => {
      const token = readSessionToken(ctx, deps.publicUrl) ?? '';
      ctx.body = sessionObject(await getOwnSession(deps.db, token, new Date()), deps.environment);
    },
  );
}

function logOutRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'delete',
      path: PATH,
      operationId: 'logOut',
      tag: TAG,
      summary: 'Log out',
      answer: { status: 204, description: 'The session is dead.' },
    },
    async (ctx) => {
      await closeSession(deps.db, sessionOf(ctx).tokenSha256, auditOf(ctx), new Date());
      clearSessionToken(ctx, deps.publicUrl);
      ctx.status = 204;
    },
  );
}

function stepUpRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/step-up`,
      operationId: 'stepUp',
      tag: TAG,
      summary: 'Prove again who you are',
      description: 'By a code, or by the password of a person without a second factor. The session gets a new cookie.',
      body: stepUpSchema,
      answer: { status: 200, description: 'The session, its second factor fresh.', schema: sessionSchema },
    },
    async (ctx) => {
      const { totp, password } = validate(stepUpSchema, ctx.request.body);
      const { verifiedHash, counted } = await verifyOwnPassword(ctx, deps, password ?? null);
      const { token } = await stepUpSession(deps.db, {
        tokenSha256: sessionOf(ctx).tokenSha256,
        code: totp ?? null,
        verifiedHash,
        keyRing: deps.keyRing,
        counted,
        by: auditOf(ctx),
        at: new Date(),
      });
      await answerSession(ctx, deps, token, 200);
    },
  );
}

function passwordRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/password`,
      operationId: 'changePassword',
      tag: TAG,
      summary: 'Change your password',
      description: 'Every other session of yours ends; this one gets a new cookie.',
      body: changePasswordSchema,
      answer: { status: 200, description: 'The session.', schema: sessionSchema },
    },
    async (ctx) => {
      const body = validate(changePasswordSchema, ctx.request.body);
      const { verifiedHash, counted } = await verifyOwnPassword(ctx, deps, body.current_password);
      if (verifiedHash === null) throw permissionDenied('wrong password');
      const { token } = await changePassword(deps.db, {
        tokenSha256: sessionOf(ctx).tokenSha256,
        verifiedHash,
        newHash: await hashPassword(body.new_password),
        counted,
        by: auditOf(ctx),
        at: new Date(),
      });
      await answerSession(ctx, deps, token, 200);
    },
  );
}
