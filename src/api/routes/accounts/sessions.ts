// Sessions of people: log in, fetch, step up, change the password, log out.
import { accountLimits, accountSubject, addressLimit } from '../../../security/attempt-limit.ts';
import { verificationFailed, authenticationFailed } from '../../../domain/accounts/member.ts';
import { hashPassword, verifyPassword } from '../../../security/password.ts';
import { readRecoveryCode } from '../../../security/recovery-code.ts';
import { hashToken } from '../../../security/token.ts';
import { beginAuthentication } from '../../../operations/accounts/begin-authentication.ts';
import { changePassword } from '../../../operations/accounts/change-password.ts';
import { closeSession } from '../../../operations/accounts/own-sessions.ts';
import { openSession } from '../../../operations/accounts/open-session.ts';
import { stepUpSession } from '../../../operations/accounts/step-up-session.ts';
import { switchMerchant } from '../../../operations/accounts/switch-merchant.ts';
import { listGuessableNames } from '../../../operations/accounts/list-guessable-names.ts';
import {
  attemptInSession,
  ownSessionObject,
  passkeyAttempt,
  endedSessionResponse,
  sessionResponse,
  type OwnSessionDeps,
} from '../../own-session.ts';
import { requireHardToGuess } from '../../new-password.ts';
import { route, routesUnder } from '../../route.ts';
import {
  changePasswordSchema,
  logInSchema,
  sessionSchema,
  stepUpSchema,
  switchMerchantSchema,
} from '../../schemas/accounts/session.ts';

export const sessionRoutes = routesUnder<OwnSessionDeps>('Console session', '/v1/console/session', [
  route('POST', {
    operationId: 'logIn',
    setsCookie: true,
    summary: 'Log in',
    description:
      'The response sets the session cookie. The refusal is the same whatever is wrong: the e-mail address, the ' +
      'password, or a missing, wrong or used code. A session that came with the request ends. Failed attempts are ' +
      'limited to 10 in 15 minutes, 30 in a day and 100 in 30 days for each account. Attempts with a recovery code or ' +
      'a passkey are limited by the address alone.',
    access: 'anyone',
    body: logInSchema,
    response: { status: 201, description: 'Logged in.', schema: sessionSchema },
    handle: async ({ body, address, userAgent, requestId, sessionToken }, deps) => {
      const { email, password, totp, recovery_code: givenCode, passkey, merchant_id: merchantId } = body;
      const at = new Date();
      // A recovery code or the signature of a passkey cannot be guessed, and the refusal does not reveal whether the
      // password was right. So failed attempts of strangers do not block an attempt with one; they could otherwise keep
      // the person out. Text that can be neither counts as an ordinary guess.
      const recoveryCode = givenCode === undefined ? null : readRecoveryCode(givenCode);
      const assertion = passkey === undefined ? null : passkeyAttempt(deps, passkey, 'log_in', accountSubject(email));
      const isGuess = recoveryCode === null && (assertion?.given ?? null) === null;
      const limits = [...(isGuess ? accountLimits(email) : []), addressLimit(address)];
      const account = await beginAuthentication(deps.db, { claim: { email }, limits, address, requestId, at });
      const { token } = await deps.limitGuesses(isGuess && account !== null ? account.id : null, async () => {
        const isRight = await verifyPassword(account?.passwordHash ?? null, password);
        const opened = await openSession(deps.db, {
          account,
          verifiedHash: isRight ? (account?.passwordHash ?? null) : null,
          code: totp ?? null,
          recoveryCode,
          passkey: assertion,
          merchantId: merchantId ?? null,
          previous: sessionToken === null ? null : hashToken(sessionToken),
          keyRing: deps.keyRing,
          counted: limits.map(({ subject }) => subject),
          address,
          userAgent,
          requestId,
          at,
        });
        if (!opened) throw authenticationFailed('log-in');
        return opened;
      });
      return sessionResponse(deps, token);
    },
  }),
  route('GET', {
    operationId: 'getSession',
    summary: 'Read the session: its person and what it may do',
    description: 'Tells a front-end in advance what the session may do, because a refusal never gives its reason.',
    access: 'ownSession',
    response: { status: 200, description: 'The session.', schema: sessionSchema },
    handle: async ({ sessionToken }, deps) => ({ body: await ownSessionObject(deps, sessionToken ?? '', new Date()) }),
  }),
  route('DELETE', {
    operationId: 'logOut',
    setsCookie: true,
    summary: 'Log out',
    access: 'ownSession',
    response: { status: 204, description: 'The session has ended.' },
    handle: async ({ session: { tokenSha256 }, by }, deps) => {
      await closeSession(deps.db, tokenSha256, by, new Date());
      return { status: 204, ...endedSessionResponse(deps) };
    },
  }),
  route('POST /step-up', {
    operationId: 'stepUp',
    setsCookie: true,
    summary: 'Verify your identity again',
    description:
      'With a code or a passkey, or with the password if the person has no second factor. The session gets a new cookie.',
    access: 'ownSession',
    body: stepUpSchema,
    response: { status: 200, description: 'The session, with a fresh second factor.', schema: sessionSchema },
    handle: async ({ body: { totp, password, passkey }, session: { tokenSha256 }, by }, deps) => {
      const { keyRing } = deps;
      const assertion = passkey === undefined ? null : passkeyAttempt(deps, passkey, 'step_up', by.person.userId);
      const input = { tokenSha256, code: totp ?? null, passkey: assertion, keyRing, by };
      const { token } = await attemptInSession(deps, by, password ?? null, (attempt) =>
        stepUpSession(deps.db, { ...input, ...attempt, at: new Date() }),
      );
      return sessionResponse(deps, token);
    },
  }),
  route('POST /merchant', {
    operationId: 'switchMerchant',
    setsCookie: true,
    summary: 'Act for another merchant of yours',
    description:
      'Requires a log-in or step-up within the last five minutes, so it uses up no code right after a log-in. This ' +
      'session ends. A new session begins, with a new cookie and the roles that you have at the other merchant. The ' +
      'new session ends no later than if you had logged in there at first. If the session is too old for those roles, ' +
      'the request is refused.',
    access: 'ownSession',
    body: switchMerchantSchema,
    response: { status: 200, description: 'The session at that merchant.', schema: sessionSchema },
    handle: async ({ body: { merchant_id: merchantId }, session, by }, deps) => {
      const { token } = await switchMerchant(deps.db, { session, merchantId, by, at: new Date() });
      return sessionResponse(deps, token);
    },
  }),
  route('POST /password', {
    operationId: 'changePassword',
    setsCookie: true,
    summary: 'Change your password',
    description: 'All your other sessions end. This session gets a new cookie.',
    access: 'ownSession',
    needsStepUp: true,
    body: changePasswordSchema,
    response: { status: 200, description: 'The session.', schema: sessionSchema },
    handle: async ({ body, session: { tokenSha256, person, name, email }, by }, deps) => {
      const names = await listGuessableNames(deps.db, { id: person.userId, name, email });
      const { token } = await attemptInSession(deps, by, body.current_password, async ({ verifiedHash, counted }) => {
        if (verifiedHash === null) throw verificationFailed('wrong password');
        // Counted with the attempt: meanwhile this process answers no other request.
        requireHardToGuess('new_password', body.new_password, names);
        const newHash = await hashPassword(body.new_password);
        return changePassword(deps.db, { tokenSha256, verifiedHash, newHash, counted, by, at: new Date() });
      });
      return sessionResponse(deps, token);
    },
  }),
]);
