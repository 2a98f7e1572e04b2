// A person's own passkeys: register, list, name and remove them, and the challenges to log in and step up with one.
import { accountSubject, challengeLimit } from '../../../security/attempt-limit.ts';
import { readCredential, registrationOptions, relyingPartyOf, requestOptions } from '../../../security/passkey.ts';
import {
  namePasskey,
  removePasskey,
  registerPasskey,
  startPasskey,
  startPasskeyLogIn,
  startPasskeyStepUp,
} from '../../../operations/accounts/change-passkey.ts';
import { listPasskeys } from '../../../db/accounts/passkey.ts';
import { attemptInSession, sessionResponse, type OwnSessionDeps } from '../../own-session.ts';
import { route, routesUnder } from '../../route.ts';
import {
  namePasskeySchema,
  passkeyListSchema,
  passkeyObject,
  passkeyOptionsSchema,
  registerPasskeySchema,
  removePasskeySchema,
  startPasskeySchema,
} from '../../schemas/accounts/passkey.ts';
import { passkeyLogInSchema, sessionSchema } from '../../schemas/accounts/session.ts';

const OPTIONS = { status: 201, description: 'Options with a challenge, valid once and for five minutes.' } as const;

export const passkeyRoutes = routesUnder<OwnSessionDeps>('Console session', '/v1/console/session', [
  route('GET /passkeys', {
    operationId: 'getPasskeys',
    summary: 'List your passkeys',
    access: 'ownSession',
    response: { status: 200, description: 'At most ten.', schema: passkeyListSchema },
    handle: async ({ session: { person } }, deps) => ({
      body: { data: (await listPasskeys(deps.db, person.userId)).map(passkeyObject) },
    }),
  }),
  route('POST /passkeys/options', {
    operationId: 'startPasskey',
    summary: 'Begin to register a passkey',
    description:
      'Requires the password, and a log-in or step-up within the last five minutes. A person with a second factor must have used it there.',
    access: 'ownSession',
    body: startPasskeySchema,
    response: { ...OPTIONS, schema: passkeyOptionsSchema },
    handle: async ({ body: { password }, by }, deps) => {
      const { challenge, credentials, email, name } = await attemptInSession(deps, by, password, (attempt) =>
        startPasskey(deps.db, { ...attempt, by, at: new Date() }),
      );
      const enrolling = { userId: by.person.userId, email, name };
      return {
        body: {
          public_key: await registrationOptions(relyingPartyOf(deps.publicUrl), enrolling, challenge, credentials),
        },
      };
    },
  }),
  route('POST /passkeys', {
    operationId: 'registerPasskey',
    setsCookie: true,
    summary: 'Register the passkey that the browser created',
    description:
      'Requires the password again. The passkey is a second factor from now on. The authenticator must have verified ' +
      'its user. The session gets a new cookie.',
    access: 'ownSession',
    body: registerPasskeySchema,
    response: { status: 201, description: 'The session, with a fresh second factor.', schema: sessionSchema },
    errors: ['state_conflict'],
    handle: async ({ body: { name, credential, password }, session: { tokenSha256 }, by }, deps) => {
      const input = { tokenSha256, name, given: readCredential(credential), rp: relyingPartyOf(deps.publicUrl), by };
      const { token } = await attemptInSession(deps, by, password, (attempt) =>
        registerPasskey(deps.db, { ...attempt, ...input, at: new Date() }),
      );
      return sessionResponse(deps, token);
    },
  }),
  route('PATCH /passkeys/{id}', {
    operationId: 'namePasskey',
    summary: 'Name a passkey',
    access: 'ownSession',
    idPrefix: 'psk',
    body: namePasskeySchema,
    response: { status: 204, description: 'The passkey has the new name.' },
    handle: ({ id, body: { name }, by }, deps) => namePasskey(deps.db, { id, name }, by, new Date()),
  }),
  route('POST /passkeys/{id}/remove', {
    operationId: 'removePasskey',
    summary: 'Remove a passkey',
    description:
      'Requires the password. You cannot remove your last second factor while one of your roles, at any merchant, requires one.',
    access: 'ownSession',
    needsStepUp: true,
    idPrefix: 'psk',
    body: removePasskeySchema,
    response: { status: 204, description: 'The passkey can no longer be used.' },
    errors: ['state_conflict'],
    handle: ({ id, body: { password }, by }, deps) =>
      attemptInSession(deps, by, password, (attempt) => removePasskey(deps.db, { ...attempt, id, by, at: new Date() })),
  }),
  route('POST /step-up/options', {
    operationId: 'startPasskeyStepUp',
    summary: 'Begin a step-up with a passkey',
    access: 'ownSession',
    response: { ...OPTIONS, schema: passkeyOptionsSchema },
    handle: async ({ by }, deps) => {
      const { challenge, credentials } = await startPasskeyStepUp(deps.db, by, new Date());
      return { body: { public_key: await requestOptions(relyingPartyOf(deps.publicUrl), challenge, credentials) } };
    },
  }),
  route('POST /options', {
    operationId: 'startPasskeyLogIn',
    summary: 'Begin a log-in with a passkey',
    description:
      'The challenge is for this e-mail address alone, whether or not an account has it. The browser offers the passkeys that it has for this service.',
    access: 'anyone',
    body: passkeyLogInSchema,
    response: { ...OPTIONS, schema: passkeyOptionsSchema },
    handle: async ({ body: { email }, address }, deps) => {
      const subject = accountSubject(email);
      const challenge = await startPasskeyLogIn(deps.db, subject, challengeLimit(address), new Date());
      return { body: { public_key: await requestOptions(relyingPartyOf(deps.publicUrl), challenge, []) } };
    },
  }),
]);
