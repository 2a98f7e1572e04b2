// Signs a command in: with the session of an earlier log-in, or a new one from credentials in the environment.
import { z } from 'zod';
import { parseWebAddress } from '../domain/web-address.ts';
import { totpCode, totpStepAt } from '../security/totp.ts';
import { parseResponse, sessionSchema, type SessionObject } from './responses.ts';
import { ApiRefusal, createApi, isRefusal, type Api } from './api.ts';
import type { Context, Environment, CommandLine } from './command.ts';
import { CliFailure, usage } from './failure.ts';

const SESSION = '/v1/console/session';
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export type Credentials = {
  readonly email: string;
  readonly password: string;
  readonly code: { readonly typed: string } | { readonly secret: string } | null;
  readonly merchantId: string | null;
};

export type SignedIn = { readonly api: Api; readonly session: SessionObject; readonly origin: string };

/** The service's address: `--base-url`, `MALIPO_BASE_URL`, or the service of the last `malipo login`. */
export function baseUrlOf(line: CommandLine, { environment, config }: Context): string {
  const text = line.text('base-url') ?? environmentValue(environment, 'MALIPO_BASE_URL') ?? config.read().baseUrl;
  if (text === null) throw usage('name the service: --base-url URL, or MALIPO_BASE_URL in the environment');
  const url = parseWebAddress(text);
  if (url === null) throw usage(`the base URL “${text}” is not an http or https address of a valid host`);
  if (url.username !== '' || url.password !== '') throw usage('the base URL contains credentials: leave them out');
  if (url.pathname !== '/' || url.search !== '') throw usage(`the base URL must have no path: ${url.origin}`);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname))) {
    throw usage(
      `the base URL must begin with https:// (http:// only for this machine), because the password is sent there`,
    );
  }
  return url.origin;
}

/** Credentials in the environment: MALIPO_EMAIL and so on, or with a role MALIPO_APPROVER_EMAIL. Null without the address. */
export function credentialsOf(environment: Environment, role: '' | 'MAKER_' | 'APPROVER_' = ''): Credentials | null {
  const of = (name: string) => environmentValue(environment, `MALIPO_${role}${name}`);
  const [email, password] = [of('EMAIL'), of('PASSWORD')];
  if (email === null) return null;
  if (password === null) {
    throw usage(
      `MALIPO_${role}EMAIL is set, but MALIPO_${role}PASSWORD is not. Set it, or unset both and use malipo login`,
    );
  }
  const [typed, secret] = [of('TOTP'), of('TOTP_SECRET')];
  if (secret !== null && !/^[A-Z2-7]+$/.test(secret)) throw usage(`MALIPO_${role}TOTP_SECRET is not base32`);
  const code = typed !== null ? { typed } : secret !== null ? { secret } : null;
  return { email: email.toLowerCase(), password, code, merchantId: of('MERCHANT_ID') };
}

/** The value of an environment variable; null if it is unset or blank. */
export function environmentValue(environment: Environment, name: string): string | null {
  const value = (environment[name] ?? '').trim();
  return value === '' ? null : value;
}

/** A valid session of the person in the environment or of the last log-in. Logs in if necessary and possible. */
export async function signIn(line: CommandLine, context: Context): Promise<SignedIn> {
  const baseUrl = baseUrlOf(line, context);
  const explicit = credentialsOf(context.environment);
  const { current = null } = context.config.read().places[baseUrl] ?? {};
  const email = explicit?.email ?? current;
  const merchantId = environmentValue(context.environment, 'MALIPO_MERCHANT_ID');
  const resumed = email === null ? null : await resume({ email, merchantId }, baseUrl, context);
  if (resumed) return requireEnrolled(resumed);
  // `npm start` writes the demo's maker, who is also a developer, to demo.env.
  const credentials = explicit ?? credentialsOf(context.environment, 'MAKER_');
  if (credentials) return signInAs(credentials, baseUrl, context);
  const where = merchantId === null ? baseUrl : `${baseUrl} for ${merchantId}`;
  const chosen = merchantId === null ? '' : ` --merchant ${merchantId}`;
  throw new CliFailure(
    'refused',
    `not logged in at ${where}, or the session has ended. Run: malipo login --base-url ${baseUrl}${chosen}`,
  );
}

/** As `signIn`, for one person: the stored session if it is valid, otherwise a new one. */
export async function signInAs(credentials: Credentials, baseUrl: string, context: Context): Promise<SignedIn> {
  const resumed = await resume(credentials, baseUrl, context);
  return requireEnrolled(resumed ?? (await logIn(credentials, baseUrl, context)));
}

// Until then the service refuses everything else in this session, and its refusals give no reason.
function requireEnrolled(signedIn: SignedIn): SignedIn {
  const { session, origin } = signedIn;
  if (!session.must_enrol) return signedIn;
  throw new CliFailure(
    'refused',
    `${session.person.email} must enrol a second factor at ${origin} first: the roles ${session.roles.join(', ')} require one`,
  );
}

/** Null also if the stored session is for another merchant than the named one: the command must not act there. */
async function resume(
  { email, merchantId }: Pick<Credentials, 'email' | 'merchantId'>,
  baseUrl: string,
  context: Context,
): Promise<SignedIn | null> {
  const saved = context.config.read().places[baseUrl]?.sessions[email];
  if (!saved) return null;
  const { origin } = saved;
  const api = apiOf({ ...saved, email }, baseUrl, context);
  try {
    const session = parseResponse(sessionSchema, await api.call('GET', SESSION));
    return merchantId === null || merchantId === session.merchant.id ? { api, origin, session } : null;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    context.config.removeSession(baseUrl, email);
    return null;
  }
}

export async function logIn(credentials: Credentials, baseUrl: string, context: Context): Promise<SignedIn> {
  const origin = await readOrigin(baseUrl, context);
  const { email, password, merchantId } = credentials;
  const api = apiOf({ email, cookie: null, origin }, baseUrl, context);
  try {
    const response = await withCode(credentials, (totp) => {
      const code = totp !== null && { totp };
      const merchant = merchantId !== null && { merchant_id: merchantId };
      return api.call('POST', SESSION, { json: { email, password, ...code, ...merchant } });
    });
    return { api, origin, session: parseResponse(sessionSchema, response) };
  } catch (error) {
    throw isRefusal(error) ? refusedLogIn(credentials, baseUrl) : error;
  }
}

/** Replaces the session by one at another merchant of the person. Right after a log-in it needs no second code. */
export async function switchMerchant({ api, origin }: SignedIn, merchantId: string): Promise<SignedIn> {
  const response = await api.call('POST', `${SESSION}/merchant`, { json: { merchant_id: merchantId } });
  return { api, origin, session: parseResponse(sessionSchema, response) };
}

/** Makes the call with the one-time code. If the secret is known, retries with the next code after a refusal. */
async function withCode<Value>({ code }: Credentials, call: (totp: string | null) => Promise<Value>): Promise<Value> {
  if (code === null || 'typed' in code) return call(code?.typed ?? null);
  const step = totpStepAt(new Date());
  try {
    return await call(totpCode(code.secret, step));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return call(totpCode(code.secret, step + 1));
  }
}

// The service does not say which part is wrong, and after ten failures it refuses every attempt for a while.
function refusedLogIn({ email, code, merchantId }: Credentials, baseUrl: string): CliFailure {
  const hint =
    code === null
      ? 'If this person has a second factor, a one-time code is needed too.'
      : 'A one-time code works once: wait for the next if it was used within the last minute.';
  return new CliFailure(
    'refused',
    `${baseUrl} does not let ${email} in: e-mail, password or code is not right${merchantId === null ? '' : ', or they are not a member of ' + merchantId}. ${hint}`,
  );
}

/**
 * Verifies the person again, by the second factor or, without one, by the password, unless their last verification
 * stays fresh for another minute: for acts that need a step-up. Without credentials the person logs in again.
 */
export async function verifyAgain(
  { api, session }: SignedIn,
  credentials: Credentials | null,
  now: Date,
): Promise<void> {
  if (session.fresh_until !== null && Date.parse(session.fresh_until) - now.getTime() > 60_000) return;
  if (credentials?.email !== session.person.email) {
    throw new CliFailure('refused', `${session.person.email} must verify their identity again. Run: malipo login`);
  }
  const path = `${SESSION}/step-up`;
  if (!session.has_second_factor) await api.call('POST', path, { json: { password: credentials.password } });
  else if (credentials.code !== null) await withCode(credentials, (totp) => api.call('POST', path, { json: { totp } }));
  else throw new CliFailure('refused', `${credentials.email} needs the second factor: set its TOTP or TOTP_SECRET`);
}

const documentSchema = z.object({ servers: z.tuple([z.object({ url: z.url() })]) });

// Calls that change something must send the service's public address as origin, which may differ from the base URL.
async function readOrigin(baseUrl: string, { stop }: Context): Promise<string> {
  const api = createApi({ baseUrl, cookie: null, origin: baseUrl, stop });
  const answer = await api.call('GET', '/v1/openapi.json').catch((error: unknown) => {
    if (error instanceof ApiRefusal)
      throw new CliFailure('failed', `there is no Malipo at ${baseUrl}: ${error.message}`);
    throw error;
  });
  return new URL(parseResponse(documentSchema, answer).servers[0].url).origin;
}

type Login = { readonly email: string; readonly cookie: string | null; readonly origin: string };

function apiOf({ email, cookie, origin }: Login, baseUrl: string, { config, stop }: Context): Api {
  const onCookie = (fresh: string) => {
    config.change(baseUrl, ({ sessions }) => {
      sessions[email] = { email, cookie: fresh, origin };
    });
  };
  return createApi({ baseUrl, cookie, origin, stop, onCookie });
}

/** Refuses a service that moves real money. */
export function requireTest({ session, api }: SignedIn, what: string): void {
  if (session.environment === 'test') return;
  throw new CliFailure(
    'refused',
    `${api.baseUrl} is ${session.environment}, but malipo ${what} is only for test environments`,
  );
}
