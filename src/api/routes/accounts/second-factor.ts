// A person's own second factor: enrol, confirm, remove.
import { totpUrl } from '../../../security/totp.ts';
import {
  confirmSecondFactor,
  createRecoveryCodes,
  removeSecondFactor,
  startSecondFactor,
} from '../../../operations/accounts/change-second-factor.ts';
import { sessionResponse, attemptInSession, type OwnSessionDeps } from '../../own-session.ts';
import { route, routesUnder } from '../../route.ts';
import {
  confirmSecondFactorSchema,
  createRecoveryCodesSchema,
  recoveryCodesSchema,
  removeSecondFactorSchema,
  sessionSchema,
  startedSecondFactorSchema,
  startSecondFactorSchema,
} from '../../schemas/accounts/session.ts';

export const secondFactorRoutes = routesUnder<OwnSessionDeps>('Console session', '/v1/console/session', [
  route('POST /second-factor', {
    operationId: 'startSecondFactor',
    summary: 'Begin to enrol a second factor',
    description:
      'The secret takes effect once one of its codes is confirmed. It then replaces the secret that you have, if any. ' +
      'A replacement requires a log-in or step-up within the last five minutes. Beginning again creates another secret.',
    access: 'ownSession',
    body: startSecondFactorSchema,
    response: { status: 201, description: 'The secret, shown only this once.', schema: startedSecondFactorSchema },
    handle: async ({ body: { password }, by }, deps) => {
      const { secret, email } = await attemptInSession(deps, by, password, (attempt) =>
        startSecondFactor(deps.db, { ...attempt, keyRing: deps.keyRing, by, at: new Date() }),
      );
      return { body: { secret, otpauth_url: totpUrl(secret, email) } };
    },
  }),
  route('POST /second-factor/confirm', {
    operationId: 'confirmSecondFactor',
    setsCookie: true,
    summary: 'Confirm the second factor with its first code',
    description: 'From now on every log-in asks for a code. The session gets a new cookie.',
    access: 'ownSession',
    body: confirmSecondFactorSchema,
    response: { status: 200, description: 'The session, with a fresh second factor.', schema: sessionSchema },
    errors: ['state_conflict'],
    handle: async ({ body: { totp: code }, session: { tokenSha256 }, by }, deps) => {
      const { keyRing } = deps;
      const { token } = await attemptInSession(deps, by, null, ({ counted }) =>
        confirmSecondFactor(deps.db, { tokenSha256, code, keyRing, counted, by, at: new Date() }),
      );
      return sessionResponse(deps, token);
    },
  }),
  route('POST /second-factor/remove', {
    operationId: 'removeSecondFactor',
    setsCookie: true,
    summary: 'Remove your second factor',
    description:
      'Requires the password and a final code. Refused while one of your roles, at any merchant, requires a second ' +
      'factor. The session gets a new cookie.',
    access: 'ownSession',
    body: removeSecondFactorSchema,
    response: { status: 200, description: 'The session.', schema: sessionSchema },
    errors: ['state_conflict'],
    handle: async ({ body: { password, totp: code }, session: { tokenSha256 }, by }, deps) => {
      const { keyRing } = deps;
      const { token } = await attemptInSession(deps, by, password, (attempt) =>
        removeSecondFactor(deps.db, { ...attempt, tokenSha256, code, keyRing, by, at: new Date() }),
      );
      return sessionResponse(deps, token);
    },
  }),
  route('POST /recovery-codes', {
    operationId: 'createRecoveryCodes',
    summary: 'Get new recovery codes',
    description:
      'A recovery code replaces a lost second factor at a log-in. Requires the password. All earlier codes become invalid.',
    access: 'ownSession',
    needsStepUp: true,
    body: createRecoveryCodesSchema,
    response: { status: 201, description: 'Ten codes, shown only this once.', schema: recoveryCodesSchema },
    errors: ['state_conflict'],
    handle: async ({ body: { password }, by }, deps) => {
      const codes = await attemptInSession(deps, by, password, (attempt) =>
        createRecoveryCodes(deps.db, { ...attempt, by, at: new Date() }),
      );
      return { body: { codes: [...codes] } };
    },
  }),
]);
