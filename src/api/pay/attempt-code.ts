// The code of a payer's next attempt: in the form, in a cookie of the checkout, and in the address of the attempt.
import { hashCode, isCode, newCode } from '../../security/token.ts';
import type { ApiContext } from '../context.ts';
import type { RouteDeps } from '../route.ts';
import { isPlainLoopback } from '../session-cookie.ts';

type Deps = Pick<RouteDeps, 'publicUrl'>;

/** For this long, payers come back for their receipt. */
const LIFE_SECONDS = 30 * 24 * 3600;

/** A code and its digest. The digest finds the attempt. */
export type AttemptCode = { readonly code: string; readonly sha256: Buffer };

/** The code in the text; null if the text is no code. */
export function readAttemptCode(text: unknown): AttemptCode | null {
  const sha256 = typeof text === 'string' ? hashCode(text) : null;
  return sha256 && { code: text as string, sha256 };
}

/** The code that this browser has for this checkout; null if it has none. */
export function readAttemptCookie(ctx: ApiContext, { publicUrl }: Deps): AttemptCode | null {
  return readAttemptCode(ctx.cookies.get(cookieName(publicUrl), { signed: false }));
}

/** Creates the code of another attempt. The browser keeps it from now on. */
export function giveAttemptCode(ctx: ApiContext, deps: Deps, checkoutCode: string): AttemptCode {
  const given = readAttemptCode(newCode());
  if (!given) throw new Error('a new code is no code');
  keepAttemptCode(ctx, deps, checkoutCode, given);
  return given;
}

// `Lax`, not `Strict`: visitors by a link of the merchant keep their code. Posts of other sites carry no cookie.
export function keepAttemptCode(
  ctx: ApiContext,
  { publicUrl }: Deps,
  checkoutCode: string,
  { code }: AttemptCode,
): void {
  if (!isCode(checkoutCode)) throw new Error('a cookie for no checkout');
  const secure = isPlainLoopback(publicUrl) ? '' : '; Secure';
  ctx.append(
    'Set-Cookie',
    `${cookieName(publicUrl)}=${code}; Path=/pay/${checkoutCode}; Max-Age=${LIFE_SECONDS}${secure}; HttpOnly; SameSite=Lax`,
  );
}

function cookieName(publicUrl: string): string {
  return isPlainLoopback(publicUrl) ? 'malipo_attempt' : '__Secure-malipo_attempt';
}

/**
 * Whether a page of another site caused this request. Browsers that name the origin are trusted; without a referrer
 * some call the origin of our own pages `null`. In any case the code of the form must equal that of the cookie.
 */
export function isFromOtherSite(ctx: ApiContext, { publicUrl }: Deps): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  const origin = ctx.get('Origin');
  if (site !== '' && site !== 'same-origin') return true;
  return origin !== '' && origin !== 'null' && origin !== new URL(publicUrl).origin;
}
