// Serves the console's web app, as it was built, under /console: its files, and its one page for every other path there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { DomainError } from '../domain/errors.ts';
import { newToken } from '../security/token.ts';
import type { ApiMiddleware } from './context.ts';

const PREFIX = '/console';
const PAGE = 'index.html';
const NONCE_PLACE = '%STYLE_NONCE%';
const COMPRESSED = { br: '.br', gzip: '.gz' } as const;
/** The name of each of them carries the digest of its content. */
const NAMED_BY_CONTENT = `${PREFIX}/assets/`;

type File = { readonly type: string; readonly plain: Buffer; readonly br?: Buffer; readonly gzip?: Buffer };
/** The files by the path under which they are served, and the page with the place of its nonce. */
export type ConsoleApp = { readonly files: ReadonlyMap<string, File>; readonly page: string };

/** Reads the app, whole, from the first of these folders that has it. Null where it was not built. */
export function loadConsoleApp(folders: readonly string[]): ConsoleApp | null {
  const folder = folders.find((each) => existsSync(join(each, PAGE)));
  if (folder === undefined) return null;
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const files = new Map<string, File>();
  for (const name of names) {
    const isOther = name === PAGE || Object.values(COMPRESSED).some((suffix) => name.endsWith(suffix));
    if (!isOther) files.set(`${PREFIX}/${name}`, readVariants(join(folder, name)));
  }
  return { files, page: readFileSync(join(folder, PAGE), 'utf8') };
}

function readVariants(path: string): File {
  const compressed = (Object.keys(COMPRESSED) as (keyof typeof COMPRESSED)[])
    .filter((coding) => existsSync(path + COMPRESSED[coding]))
    .map((coding) => [coding, readFileSync(path + COMPRESSED[coding])] as const);
  return { type: extname(path), plain: readFileSync(path), ...Object.fromEntries(compressed) };
}

/** Passes on what is not under /console, and all of it where there is no app. Throws `method_not_allowed`. */
export function serveConsoleApp(app: ConsoleApp | null): ApiMiddleware {
  return async (ctx, next) => {
    const { path } = ctx;
    const file = app?.files.get(path);
    const isOurs = path === PREFIX || (path.startsWith(`${PREFIX}/`) && !path.startsWith(NAMED_BY_CONTENT));
    if (app === null || (file === undefined && !isOurs)) {
      await next();
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new DomainError('method_not_allowed', 'This route answers to GET.');
    }
    if (file === undefined) servePage(ctx, app.page);
    else serveFile(ctx, file);
  };
}

type Response = Parameters<ApiMiddleware>[0];

function servePage(ctx: Response, page: string): void {
  const { token: nonce } = newToken();
  ctx.set('Content-Security-Policy', pagePolicy(nonce));
  ctx.type = 'html';
  ctx.body = page.replace(NONCE_PLACE, nonce);
}

function serveFile(ctx: Response, file: File): void {
  ctx.set('Vary', 'Accept-Encoding');
  if (ctx.path.startsWith(NAMED_BY_CONTENT)) ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.type = file.type;
  const accepted = ctx.acceptsEncodings('br', 'gzip', 'identity');
  const coding = accepted === 'br' || accepted === 'gzip' ? accepted : null;
  const body = coding === null ? undefined : file[coding];
  if (coding !== null && body !== undefined) ctx.set('Content-Encoding', coding);
  ctx.body = body ?? file.plain;
}

/**
 * Nothing from another host, nothing inline but the style rules under this response's nonce, and no text of a script's may become
 * markup. No form is sent by the browser itself, where a field would end up in an address.
 */
function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');
}
