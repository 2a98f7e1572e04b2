// Recovery: a person with a token from the staff of the service sets a new password.
import { recoveryRefused } from '../../../domain/accounts/member.ts';
import { hashPassword } from '../../../security/password.ts';
import { addressLimit } from '../../../security/attempt-limit.ts';
import { hashToken } from '../../../security/token.ts';
import { beginAuthentication } from '../../../operations/accounts/begin-authentication.ts';
import { recoverAccount } from '../../../operations/accounts/recover-account.ts';
import { listGuessableNames } from '../../../operations/accounts/list-guessable-names.ts';
import { requireHardToGuess } from '../../new-password.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { recoverSchema } from '../../schemas/accounts/session.ts';

export const recoveryRoutes = routesUnder<RouteDeps>('Console session', '/v1/console/recovery', [
  route('POST', {
    operationId: 'recoverAccount',
    summary: 'Set a new password with a recovery token',
    description:
      'Two members of the service’s staff agree to issue the token to a person who lost their password or second ' +
      'factor. The token works once, within 24 hours. Its use removes the second factor and ends every session of the ' +
      'person. After the next log-in, the person must first enrol a new second factor. Nobody at a merchant can create ' +
      'such a token.',
    access: 'anyone',
    body: recoverSchema,
    response: { status: 204, description: 'The new password is set.' },
    handle: async ({ body, address, requestId }, deps) => {
      const at = new Date();
      const tokenSha256 = hashToken(body.token);
      // By address alone: an unknown token names no account that could be locked.
      const limits = [addressLimit(address)];
      const claim = { recoverySha256: tokenSha256 };
      const user = await beginAuthentication(deps.db, { claim, limits, address, requestId, at });
      if (user === null || tokenSha256 === null) throw recoveryRefused();
      requireHardToGuess('new_password', body.new_password, await listGuessableNames(deps.db, user));
      await recoverAccount(deps.db, {
        tokenSha256,
        newHash: await hashPassword(body.new_password),
        counted: limits.map(({ subject }) => subject),
        address,
        requestId,
        at,
      });
      return { status: 204 };
    },
  }),
]);
