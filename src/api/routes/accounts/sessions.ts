// Sessions of people: log in, fetch, step up, change the password, log out.
import { accountLimits, accountSubject, addressLimit } from '../../../security/attempt-limit.ts';
import { verificationFailed, authenticationFailed } from '../../../domain/accounts/member.ts';
import { hashPassword, verifyPassword } from '../../../security/password.ts';
import { readRecoveryCode } from '../../../security/recovery-code.ts';
import { hashToken } from '../../../security/token.ts';
import { beginAuthentication } from '../../../operations/accounts/begin-authentication.ts';
import { changePassword } from '../../../operations/accounts/change-password.ts';
import { closeSession } from '../../../operations/accounts/close-session.ts';
import { openSession } from '../../../operations/accounts/open-session.ts';
import { stepUpSession } from '../../../operations/accounts/step-up-session.ts';
import { switchMerchant } from '../../../operations/accounts/switch-merchant.ts';
import { listKnownNames } from '../../../queries/accounts/known-names.ts';
import {
  attemptInSession,
  ownSessionObject,
  passkeyAttempt,
  sessionGone,
  sessionResponse,
  type SessionDeps,
} from '../../own-session.ts';
import { requireHardToGuess } from '../../new-password.ts';
import { route, type Route } from '../../route.ts';
import {
  changePasswordSchema,
  logInSchema,
  sessionSchema,
  stepUpSchema,
  switchMerchantSchema,
} from '../../schemas/accounts/session.ts';

const TAG = 'Console session';
const PATH = '/v1/console/session';

export function sessionRoutes(deps: SessionDeps): Route[] {
  return [
    logInRoute(deps),
    fetchRoute(deps),
    logOutRoute(deps),
    stepUpRoute(deps),
    switchRoute(deps),
    passwordRoute(deps),
  ];
}

function logInRoute(deps: SessionDeps): Route {
  return route(deps, {
    method: 'post',
    path: PATH,
    operationId: 'logIn',
    setsCookie: true,
    tag: TAG,
    summary: 'Log in',
    description:
      'The session comes as a cookie. Whatever is wrong (e-mail, password, a code that is missing, wrong or used), the ' +
      'answer is the same. A session that the request came with ends. Failed attempts are limited to 10 in a quarter of an hour, ' +
      '30 in a day and 100 in thirty days for an account; one with a recovery code or a passkey is limited by the address alone.',
    access: 'anyone',
    body: logInSchema,
    response: { status: 201, description: 'Logged in.', schema: sessionSchema },
    handle: async ({ body, address, userAgent, requestId, sessionToken }) => {
      const { email, password, totp, recovery_code: givenCode, passkey, merchant_id: merchantId } = body;
      const at = new Date();
      // Nobody can guess a recovery code or the signature of a passkey, and the refusal does not tell whether the password
      // was right. So an attempt with one is not held up by what strangers tried, who could otherwise keep the person out
      // for as long as they like. Text that cannot be either is none: it would take a guess past the limits.
      const recoveryCode = givenCode === undefined ? null : readRecoveryCode(givenCode);
      const assertion = passkey === undefined ? null : passkeyAttempt(deps, passkey, 'log_in', accountSubject(email));
      const isGuess = recoveryCode === null && (assertion?.given ?? null) === null;
      const limits = [...(isGuess ? accountLimits(email) : []), addressLimit(address)];
      const account = await beginAuthentication(deps.db, { of: { email }, limits, address, requestId, at });
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
  });
}

function fetchRoute(deps: SessionDeps): Route {
  return route(deps, {
    method: 'get',
    path: PATH,
    operationId: 'getSession',
    tag: TAG,
    summary: 'Whose session this is, and what it may do',
    description: 'What a front-end needs beforehand, so that it need not guess from a refusal, which never says why.',
    access: 'ownSession',
    response: { status: 200, description: 'The session.', schema: sessionSchema },
    handle: async ({ sessionToken }) => ({ body: await ownSessionObject(deps, sessionToken ?? '', new Date()) }),
  });
}

function logOutRoute(deps: SessionDeps): Route {
  return route(deps, {
    method: 'delete',
    path: PATH,
    operationId: 'logOut',
    setsCookie: true,
    tag: TAG,
    summary: 'Log out',
    access: 'ownSession',
    response: { status: 204, description: 'The session is dead.' },
    handle: async ({ session: { tokenSha256 }, by }) => {
      await closeSession(deps.db, tokenSha256, by, new Date());
      return { status: 204, ...sessionGone(deps) };
    },
  });
}

function stepUpRoute(deps: SessionDeps): Route {
  return route(deps, {
    method: 'post',
    path: `${PATH}/step-up`,
    operationId: 'stepUp',
    setsCookie: true,
    tag: TAG,
    summary: 'Prove again who you are',
    description:
      'By a code or a passkey, or by the password of a person without a second factor. The session gets a new cookie.',
    access: 'ownSession',
    body: stepUpSchema,
    response: { status: 200, description: 'The session, its second factor fresh.', schema: sessionSchema },
    handle: async ({ body: { totp, password, passkey }, session: { tokenSha256 }, by }) => {
      const { keyRing } = deps;
      const assertion = passkey === undefined ? null : passkeyAttempt(deps, passkey, 'step_up', by.person.userId);
      const input = { tokenSha256, code: totp ?? null, passkey: assertion, keyRing, by };
      const { token } = await attemptInSession(deps, by, password ?? null, (attempt) =>
        stepUpSession(deps.db, { ...input, ...attempt, at: new Date() }),
      );
      return sessionResponse(deps, token);
    },
  });
}

function switchRoute(deps: SessionDeps): Route {
  return route(deps, {
    method: 'post',
    path: `${PATH}/merchant`,
    operationId: 'switchMerchant',
    setsCookie: true,
    tag: TAG,
    summary: 'Act for another merchant of yours',
    description:
      'Within five minutes of a log-in or step-up, so it uses up no code after a log-in. This session ends, and a new one with a new cookie ' +
      'begins, in the roles that you have there. It ends no later than if you had logged in there at first: one that is too old for those ' +
      'roles is refused.',
    access: 'ownSession',
    body: switchMerchantSchema,
    response: { status: 200, description: 'The session at that merchant.', schema: sessionSchema },
    handle: async ({ body: { merchant_id: merchantId }, session, by }) => {
      const { token } = await switchMerchant(deps.db, { session, merchantId, by, at: new Date() });
      return sessionResponse(deps, token);
    },
  });
}

function passwordRoute(deps: SessionDeps): Route {
  return route(deps, {
    method: 'post',
    path: `${PATH}/password`,
    operationId: 'changePassword',
    setsCookie: true,
    tag: TAG,
    summary: 'Change your password',
    description: 'Every other session of yours ends; this one gets a new cookie.',
    access: 'ownSession',
    needsStepUp: true,
    body: changePasswordSchema,
    response: { status: 200, description: 'The session.', schema: sessionSchema },
    handle: async ({ body, session: { tokenSha256, person, name, email }, by }) => {
      const names = await listKnownNames(deps.db, { id: person.userId, name, email });
      const { token } = await attemptInSession(deps, by, body.current_password, async ({ verifiedHash, counted }) => {
        if (verifiedHash === null) throw verificationFailed('wrong password');
        // Counted with the attempt: meanwhile this process answers nobody else.
        requireHardToGuess('new_password', body.new_password, names);
        const newHash = await hashPassword(body.new_password);
        return changePassword(deps.db, { tokenSha256, verifiedHash, newHash, counted, by, at: new Date() });
      });
      return sessionResponse(deps, token);
    },
  });
}
