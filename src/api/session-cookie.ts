// The cookie that carries a session's token: for this host, for HTTP alone, and for requests of our own pages.
import type { Context } from 'koa';

type CookieContext = Pick<Context, 'append' | 'cookies'>;

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * `__Host-` ties the cookie to this host and to TLS. Where there is none, on one's own machine alone, browsers would not
 * keep it, so it goes without; on any other plain address nobody can log in with a browser, which is meant.
 */
export function sessionCookieName(publicUrl: string): string {
  return isPlainLoopback(publicUrl) ? 'malipo_session' : '__Host-malipo_session';
}

/** The token that came with the request; null when none did. */
export function readSessionToken(ctx: CookieContext, publicUrl: string): string | null {
  return ctx.cookies.get(sessionCookieName(publicUrl), { signed: false }) ?? null;
}

/** Sends the token, to be kept until the session ends for certain. */
export function sendSessionToken(ctx: CookieContext, publicUrl: string, token: string, lifeMs: number): void {
  write(ctx, publicUrl, `${token}; Max-Age=${Math.max(0, Math.floor(lifeMs / 1000))}`);
}

export function clearSessionToken(ctx: CookieContext, publicUrl: string): void {
  write(ctx, publicUrl, '; Max-Age=0');
}

// By hand: the cookie library refuses `Secure` behind a proxy that ends TLS for us.
function write(ctx: CookieContext, publicUrl: string, value: string): void {
  const secure = isPlainLoopback(publicUrl) ? '' : '; Secure';
  ctx.append('Set-Cookie', `${sessionCookieName(publicUrl)}=${value}; Path=/${secure}; HttpOnly; SameSite=Strict`);
}

function isPlainLoopback(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl);
  return protocol === 'http:' && LOOPBACK.test(hostname);
}
