// Who a command acts as: the session of an earlier log-in, or a new one by what the environment says.
import { z } from 'zod';
import { totpCode, totpStepAt } from '../security/totp.ts';
import { read, sessionSchema, type SessionObject } from './answers.ts';
import { ApiRefusal, createApi, type Api } from './api.ts';
import type { Context, Environment, Line } from './command.ts';
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

/** The service's address: `--base-url`, `MALIPO_BASE_URL`, or where `malipo login` was last. */
export function baseUrlOf(line: Line, { environment, config }: Context): string {
  const text = line.text('base-url') ?? given(environment, 'MALIPO_BASE_URL') ?? config.read().baseUrl;
  if (text === null) throw usage('say where the service is: --base-url URL, or MALIPO_BASE_URL in the environment');
  if (!URL.canParse(text)) throw usage(`the base URL “${text}” is no URL`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw usage('the base URL holds credentials: leave them out');
  if (url.pathname !== '/' || url.search !== '') throw usage(`the base URL is ${url.origin}, without a path`);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname))) {
    throw usage(`the base URL must begin with https:// (http:// for this machine alone), as a password goes there`);
  }
  return url.origin;
}

/** Credentials by these names: MALIPO_EMAIL, or with a word MALIPO_APPROVER_EMAIL. Null without the address. */
export function credentialsOf(environment: Environment, word: '' | 'MAKER_' | 'APPROVER_' = ''): Credentials | null {
  const of = (name: string) => given(environment, `MALIPO_${word}${name}`);
  const [email, password] = [of('EMAIL'), of('PASSWORD')];
  if (email === null) return null;
  if (password === null) {
    throw usage(`MALIPO_${word}EMAIL is set and MALIPO_${word}PASSWORD is not; or unset both and use malipo login`);
  }
  const [typed, secret] = [of('TOTP'), of('TOTP_SECRET')];
  if (secret !== null && !/^[A-Z2-7]+$/.test(secret)) throw usage(`MALIPO_${word}TOTP_SECRET is no base32`);
  const code = typed !== null ? { typed } : secret !== null ? { secret } : null;
  return { email: email.toLowerCase(), password, code, merchantId: of('MERCHANT_ID') };
}

/** What the environment says under this name; null for nothing. */
export function given(environment: Environment, name: string): string | null {
  const value = (environment[name] ?? '').trim();
  return value === '' ? null : value;
}

/** A session that lives, of whom the environment names or who logged in last; a new one where there is need and means. */
export async function signIn(line: Line, context: Context): Promise<SignedIn> {
  const baseUrl = baseUrlOf(line, context);
  const explicit = credentialsOf(context.environment);
  const { current = null } = context.config.read().places[baseUrl] ?? {};
  const email = explicit?.email ?? current;
  const known = email === null ? null : await resume(baseUrl, email, context);
  if (known) return known;
  // `npm start` leaves the demo's maker in demo.env, who is a developer too.
  const credentials = explicit ?? credentialsOf(context.environment, 'MAKER_');
  if (credentials) return signInAs(credentials, baseUrl, context);
  throw new CliFailure('refused', `not logged in at ${baseUrl}, or no longer. Do: malipo login --base-url ${baseUrl}`);
}

/** The same for one person: an earlier session if it lives, or else a new one. */
export async function signInAs(credentials: Credentials, baseUrl: string, context: Context): Promise<SignedIn> {
  return (await resume(baseUrl, credentials.email, context)) ?? (await logIn(credentials, baseUrl, context));
}

async function resume(baseUrl: string, email: string, context: Context): Promise<SignedIn | null> {
  const saved = context.config.read().places[baseUrl]?.sessions[email];
  if (!saved) return null;
  const { cookie, origin } = saved;
  const onCookie = (fresh: string) => {
    keep(context, baseUrl, { email, cookie: fresh, origin });
  };
  const api = createApi({ baseUrl, cookie, origin, stop: context.stop, onCookie });
  try {
    return { api, origin, session: read(sessionSchema, await api.call('GET', SESSION)) };
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 403) throw error;
    context.config.forget(baseUrl, email);
    return null;
  }
}

/** Opens a session and keeps it. A code that was used already makes way for the next one, where there is its secret. */
export async function logIn(credentials: Credentials, baseUrl: string, context: Context): Promise<SignedIn> {
  const origin = await askForOrigin(baseUrl, context);
  const { email, password, merchantId } = credentials;
  const onCookie = (cookie: string) => {
    keep(context, baseUrl, { email, cookie, origin });
  };
  const api = createApi({ baseUrl, cookie: null, origin, stop: context.stop, onCookie });
  const codes = codesOf(credentials);
  for (const [n, totp] of codes.entries()) {
    const json = {
      email,
      password,
      ...(totp !== null && { totp }),
      ...(merchantId !== null && { merchant_id: merchantId }),
    };
    try {
      const session = read(sessionSchema, await api.call('POST', SESSION, { json }));
      return { api, origin, session };
    } catch (error) {
      if (!(error instanceof ApiRefusal) || error.status !== 403) throw error;
      if (n + 1 === codes.length) throw refusedLogIn(credentials, baseUrl);
    }
  }
  throw new Error('there is always a last code');
}

// The service does not say what of it is wrong; it counts, and after ten failures it takes nothing for a while.
function refusedLogIn({ email, code }: Credentials, baseUrl: string): CliFailure {
  const hint =
    code === null
      ? 'If this person has a second factor, a one-time code is needed too.'
      : 'A one-time code works once: wait for the next if it was used within the last minute.';
  return new CliFailure(
    'refused',
    `${baseUrl} does not let ${email} in: the address, the password or the code is wrong. ${hint}`,
  );
}

function codesOf({ code }: Credentials): readonly (string | null)[] {
  if (code === null) return [null];
  if ('typed' in code) return [code.typed];
  return [currentCode(code.secret), currentCode(code.secret, 1)];
}

function currentCode(secret: string, stepsLater = 0): string {
  return totpCode(secret, totpStepAt(new Date()) + stepsLater);
}

/** Proves the second factor again unless it was within the last four minutes: money is released within five. */
export async function freshen({ api, session }: SignedIn, credentials: Credentials, now: Date): Promise<void> {
  if (!session.has_second_factor) return;
  const provedAt = session.second_factor_at === null ? 0 : Date.parse(session.second_factor_at);
  if (now.getTime() - provedAt < 4 * 60_000) return;
  for (const [n, totp] of codesOf(credentials).entries()) {
    if (totp === null) break;
    try {
      await api.call('POST', `${SESSION}/step-up`, { json: { totp } });
      return;
    } catch (error) {
      if (!(error instanceof ApiRefusal) || error.status !== 403 || n > 0 || 'typed' in (credentials.code ?? {})) {
        throw error;
      }
    }
  }
  throw new CliFailure('refused', `${credentials.email} must prove the second factor: set its TOTP or TOTP_SECRET`);
}

const documentSchema = z.object({ servers: z.tuple([z.object({ url: z.url() })]) });

// Calls that change something must say the address that the service calls its own; another name of this host is not it.
async function askForOrigin(baseUrl: string, { stop }: Context): Promise<string> {
  const api = createApi({ baseUrl, cookie: null, origin: baseUrl, stop });
  const answer = await api.call('GET', '/v1/openapi.json').catch((error: unknown) => {
    if (error instanceof ApiRefusal)
      throw new CliFailure('failed', `at ${baseUrl} there is no Malipo: ${error.message}`);
    throw error;
  });
  return new URL(read(documentSchema, answer).servers[0].url).origin;
}

function keep({ config }: Context, baseUrl: string, saved: { email: string; cookie: string; origin: string }): void {
  config.change(baseUrl, ({ sessions }) => {
    sessions[saved.email] = saved;
  });
}

/** Refuses a service that moves real money. */
export function requireTest({ session, api }: SignedIn, what: string): void {
  if (session.environment === 'test') return;
  throw new CliFailure(
    'refused',
    `${api.baseUrl} is ${session.environment}, and malipo ${what} is for test environments`,
  );
}
