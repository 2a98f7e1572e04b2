// Serves the built web app of the console under /console: its files, and its one page for every other path there.
import type { ApiMiddleware } from './context.ts';
import {
  pagePolicy,
  readStaticFiles,
  requireRead,
  sendPageWithNonce,
  sendStaticFile,
  type StaticFile,
} from './static-files.ts';

const PREFIX = '/console';
const PAGE = 'index.html';
/** The name of each of these files carries the digest of its content. */
const NAMED_BY_CONTENT = `${PREFIX}/assets/`;

export type ConsoleApp = { readonly files: ReadonlyMap<string, StaticFile>; readonly page: StaticFile };

/** Reads the whole app from the first of these folders that has it. Null if it was not built. */
export function loadConsoleApp(folders: readonly string[]): ConsoleApp | null {
  const files = readStaticFiles(folders, PAGE);
  const page = files?.get(PAGE);
  if (!files || !page) return null;
  const others = [...files].filter(([name]) => name !== PAGE);
  return { files: new Map(others.map(([name, file]) => [`${PREFIX}/${name}`, file])), page };
}

/** Passes on every request outside /console, and every request if there is no app. Throws `method_not_allowed`. */
export function serveConsoleApp(app: ConsoleApp | null): ApiMiddleware {
  return (ctx, next) => {
    const { path } = ctx;
    const file = app?.files.get(path);
    const isOurs = path === PREFIX || (path.startsWith(`${PREFIX}/`) && !path.startsWith(NAMED_BY_CONTENT));
    if (app === null || (file === undefined && !isOurs)) return next();
    requireRead(ctx);
    if (file === undefined) sendPageWithNonce(ctx, app.page, policyOf);
    else sendStaticFile(ctx, file, { isNamedByContent: path.startsWith(NAMED_BY_CONTENT) });
    return undefined;
  };
}

/** Allows nothing from another host, and nothing inline except style rules under the nonce of this response. */
function policyOf(nonce: string): string {
  return pagePolicy([`style-src 'self' 'nonce-${nonce}'`, "img-src 'self' data:", "connect-src 'self'"], 'default');
}
