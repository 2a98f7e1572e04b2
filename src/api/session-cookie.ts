// The cookie with the token of a session: for this host, for HTTP only, and for requests of our own pages.
import type { Context } from 'koa';

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * `__Host-` ties the cookie to this host and to TLS. Browsers drop such a cookie without TLS, so on localhost, and
 * nowhere else, the name has no prefix. At any other plain-HTTP address nobody can log in with a browser, on purpose.
 */
export function sessionCookieName(publicUrl: string): string {
  return isPlainLoopback(publicUrl) ? 'malipo_session' : '__Host-malipo_session';
}

export function readSessionToken(ctx: Pick<Context, 'cookies'>, publicUrl: string): string | null {
  return ctx.cookies.get(sessionCookieName(publicUrl), { signed: false }) ?? null;
}

/** The `Set-Cookie` header that gives the browser the token, at most until the session ends. */
export function sessionCookie(publicUrl: string, token: string, lifeMs: number): string {
  return setCookie(publicUrl, `${token}; Max-Age=${Math.max(0, Math.floor(lifeMs / 1000))}`);
}

export function clearedSessionCookie(publicUrl: string): string {
  return setCookie(publicUrl, '; Max-Age=0');
}

/** Makes a browser drop the pages and data of an ended session. `"cookies"` would reach other hosts of the domain. */
export const CLEARED_SITE_DATA = '"cache", "storage"';

// Written by hand: the cookie library refuses `Secure` behind a proxy that terminates TLS.
function setCookie(publicUrl: string, value: string): string {
  const secure = isPlainLoopback(publicUrl) ? '' : '; Secure';
  return `${sessionCookieName(publicUrl)}=${value}; Path=/${secure}; HttpOnly; SameSite=Strict`;
}

export function isPlainLoopback(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'http:' && LOOPBACK.test(hostname);
}
