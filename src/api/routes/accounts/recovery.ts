// Recovery: a person who holds a token from whoever runs the service comes in again.
import { permissionDenied } from '../../../domain/accounts/member.ts';
import { hashPassword } from '../../../security/password.ts';
import { addressLimit } from '../../../security/attempt-limit.ts';
import { hashToken } from '../../../security/token.ts';
import { beginAuthentication } from '../../../operations/accounts/begin-authentication.ts';
import { recoverAccount } from '../../../operations/accounts/recover-account.ts';
import { openConsoleRoute } from '../../console-route.ts';
import { addressOf, type ApiDeps, type ApiMiddleware } from '../../context.ts';
import { refuseOtherSites } from '../../middleware/session.ts';
import type { Route } from '../../route.ts';
import { recoverSchema } from '../../schemas/accounts/session.ts';
import { validate } from '../../validation.ts';

export function recoveryRoutes(deps: ApiDeps): Route[] {
  return [
    openConsoleRoute(
      {
        method: 'post',
        path: '/v1/console/recovery',
        operationId: 'recoverAccount',
        tag: 'session',
        summary: 'Set a new password with a recovery token',
        description:
          'Whoever runs the service hands the token to a person who lost their password or second factor; it works once, within ' +
          '24 hours. The second factor is gone and every session of the person has ended: they log in, and enrol another one. ' +
          'Nobody at a merchant can make such a token.',
        body: recoverSchema,
        answer: { status: 204, description: 'The new password counts.' },
      },
      refuseOtherSites(deps),
      recover(deps),
    ),
  ];
}

function recover({ db }: ApiDeps): ApiMiddleware {
  return async (ctx) => {
    const body = validate(recoverSchema, ctx.request.body);
    const address = addressOf(ctx);
    const at = new Date();
    const tokenSha256 = hashToken(body.token);
    // By address alone: a token that is nobody's names no account that could be locked.
    const limits = [addressLimit(address)];
    const user = await beginAuthentication(db, { of: { recoverySha256: tokenSha256 }, limits, at });
    if (user === null || tokenSha256 === null) throw permissionDenied('no such recovery');
    await recoverAccount(db, {
      tokenSha256,
      newHash: await hashPassword(body.new_password),
      counted: limits.map(({ subject }) => subject),
      address,
      requestId: ctx.state.requestId,
      at,
    });
    ctx.status = 204;
  };
}
