// A person's own second factor: enrol, confirm, remove.
import { totpUrl } from '../../../security/totp.ts';
import { confirmSecondFactor } from '../../../operations/accounts/confirm-second-factor.ts';
import { removeSecondFactor } from '../../../operations/accounts/remove-second-factor.ts';
import { startSecondFactor } from '../../../operations/accounts/start-second-factor.ts';
import { consoleRoute } from '../../console-route.ts';
import { auditOf, sessionOf, type ApiDeps } from '../../context.ts';
import { answerSession, verifyOwnPassword } from '../../own-session.ts';
import type { Route } from '../../route.ts';
import {
  confirmSecondFactorSchema,
  removeSecondFactorSchema,
  sessionSchema,
  startedSecondFactorSchema,
  startSecondFactorSchema,
} from '../../schemas/accounts/session.ts';
import { validate } from '../../validation.ts';

const TAG = 'session';
const PATH = '/v1/console/session/second-factor';

export function secondFactorRoutes(deps: ApiDeps): Route[] {
  return [startRoute(deps), confirmRoute(deps), removeRoute(deps)];
}

function startRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: PATH,
      operationId: 'startSecondFactor',
      tag: TAG,
      summary: 'Begin to enrol a second factor',
      description: 'The secret counts once a code of it was confirmed. Beginning again makes another.',
      body: startSecondFactorSchema,
      answer: { status: 201, description: 'The secret, shown this once.', schema: startedSecondFactorSchema },
      errors: ['state_conflict'],
    },
    async (ctx) => {
      const { password } = validate(startSecondFactorSchema, ctx.request.body);
      const proof = await verifyOwnPassword(ctx, deps, password);
      const own = { ...proof, keyRing: deps.keyRing, by: auditOf(ctx), at: new Date() };
      const { secret, email } = await startSecondFactor(deps.db, own);
      ctx.status = 201;
      ctx.body = { secret, otpauth_url: totpUrl(secret, email) };
    },
  );
}

function confirmRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/confirm`,
      operationId: 'confirmSecondFactor',
      tag: TAG,
      summary: 'Confirm the second factor with its first code',
      description: 'From now on every log-in asks for a code. The session gets a new cookie.',
      body: confirmSecondFactorSchema,
      answer: { status: 200, description: 'The session, its second factor fresh.', schema: sessionSchema },
      errors: ['state_conflict'],
    },
    async (ctx) => {
      const { totp: code } = validate(confirmSecondFactorSchema, ctx.request.body);
      const { counted } = await verifyOwnPassword(ctx, deps, null);
      const { token } = await confirmSecondFactor(deps.db, {
        tokenSha256: sessionOf(ctx).tokenSha256,
        code,
        keyRing: deps.keyRing,
        counted,
        by: auditOf(ctx),
        at: new Date(),
      });
      await answerSession(ctx, deps, token, 200);
    },
  );
}

function removeRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/remove`,
      operationId: 'removeSecondFactor',
      tag: TAG,
      summary: 'Remove your second factor',
      description: 'Asks for the password and for a last code. The session gets a new cookie.',
      body: removeSecondFactorSchema,
      answer: { status: 200, description: 'The session.', schema: sessionSchema },
    },
    async (ctx) => {
      const { password, totp: code } = validate(removeSecondFactorSchema, ctx.request.body);
      const proof = await verifyOwnPassword(ctx, deps, password);
      const { token } = await removeSecondFactor(deps.db, {
        ...proof,
        tokenSha256: sessionOf(ctx).tokenSha256,
        code,
        keyRing: deps.keyRing,
        by: auditOf(ctx),
        at: new Date(),
      });
      await answerSession(ctx, deps, token, 200);
    },
  );
}
