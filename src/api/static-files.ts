// Files that the build left in a folder: read at the start, and served in an encoding that the caller accepts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { DomainError } from '../domain/errors.ts';
import { newToken } from '../security/token.ts';
import type { ApiContext } from './context.ts';

const COMPRESSED = { br: '.br', gzip: '.gz' } as const;
/** The placeholder of the build for the nonce of a page's style rules. */
const NONCE_PLACE = '%STYLE_NONCE%';
const A_YEAR = 'public, max-age=31536000, immutable';

export type StaticFile = {
  readonly type: string;
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
};

/**
 * The files of the first of these folders that has the page, by their paths, each with its compressed variants. Null if
 * it was not built.
 */
export function readStaticFiles(folders: readonly string[], page: string): ReadonlyMap<string, StaticFile> | null {
  const folder = folders.find((each) => existsSync(join(each, page)));
  if (folder === undefined) return null;
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => !Object.values(COMPRESSED).some((suffix) => name.endsWith(suffix)));
  return new Map(names.map((name) => [name, readVariants(join(folder, name))]));
}

function readVariants(path: string): StaticFile {
  const compressed = (Object.keys(COMPRESSED) as (keyof typeof COMPRESSED)[])
    .filter((coding) => existsSync(path + COMPRESSED[coding]))
    .map((coding) => [coding, readFileSync(path + COMPRESSED[coding])] as const);
  return { type: extname(path), plain: readFileSync(path), ...Object.fromEntries(compressed) };
}

/** Browsers keep a file for good if its name carries the digest of its content. */
export function sendStaticFile(
  ctx: ApiContext,
  file: StaticFile,
  { isNamedByContent }: { readonly isNamedByContent: boolean },
): void {
  ctx.set('Vary', 'Accept-Encoding');
  if (isNamedByContent) ctx.set('Cache-Control', A_YEAR);
  ctx.type = file.type;
  const accepted = ctx.acceptsEncodings('br', 'gzip', 'identity');
  const coding = accepted === 'br' || accepted === 'gzip' ? accepted : null;
  const body = coding === null ? undefined : file[coding];
  if (coding !== null && body !== undefined) ctx.set('Content-Encoding', coding);
  ctx.body = body ?? file.plain;
}

/**
 * The policy of our pages: our own scripts and `allowed`, nothing inline, markup from text only under `trustedTypes`.
 * Without `formAction` the browser sends no form: a field would end up in an address.
 */
export function pagePolicy(allowed: readonly string[], trustedTypes: string, formAction = "'none'"): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    ...allowed,
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypes}`,
  ].join('; ');
}

/** Sends a page whose style rules count under a nonce of this response alone. Such a page is not cached. */
export function sendPageWithNonce(ctx: ApiContext, page: StaticFile, policyOf: (nonce: string) => string): void {
  const { token: nonce } = newToken();
  ctx.set('Content-Security-Policy', policyOf(nonce));
  ctx.type = 'html';
  ctx.body = page.plain.toString().replace(NONCE_PLACE, nonce);
}

/** Throws `method_not_allowed` for everything but GET and HEAD. */
export function requireRead(ctx: ApiContext): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  ctx.set('Allow', 'GET, HEAD');
  throw new DomainError('method_not_allowed', 'This route supports GET.');
}
