// Serves the documentation, as it was built, under /docs: the guides, the API reference, and the files that these load.
import type { ApiMiddleware } from './context.ts';
import {
  pagePolicy,
  readStaticFiles,
  requireRead,
  sendPageWithNonce,
  sendStaticFile,
  type StaticFile,
} from './static-files.ts';

const PREFIX = '/docs';
const FIRST_PAGE = 'index.html';
const REFERENCE = `${PREFIX}/reference`;
/** The name of each of them carries the digest of its content. */
const NAMED_BY_CONTENT = `${PREFIX}/assets/`;
/** A page names its files by their content, so it may be old for no longer than a release takes to be noticed. */
const PAGE_KEPT = 'public, max-age=300';

export type DocsSite = ReadonlyMap<string, StaticFile>;

/** Reads the site, whole, from the first of these folders that has it. Null where it was not built. */
export function loadDocsSite(folders: readonly string[]): DocsSite | null {
  const files = readStaticFiles(folders, FIRST_PAGE);
  return files && new Map([...files].map(([name, file]) => [pathOf(name), file]));
}

function pathOf(name: string): string {
  return name === FIRST_PAGE ? PREFIX : `${PREFIX}/${name.replace(/\.html$/, '')}`;
}

/** Passes on what the site does not have. Throws `method_not_allowed`. */
export function serveDocsSite(site: DocsSite | null): ApiMiddleware {
  return (ctx, next) => {
    const file = site?.get(ctx.path);
    if (file === undefined) return next();
    requireRead(ctx);
    if (ctx.path === REFERENCE) {
      sendPageWithNonce(ctx, file, referencePolicy);
      return undefined;
    }
    ctx.set({ 'Content-Security-Policy': GUIDE_POLICY, 'Cache-Control': PAGE_KEPT });
    sendStaticFile(ctx, file, { isNamedByContent: ctx.path.startsWith(NAMED_BY_CONTENT) });
    return undefined;
  };
}

/** Our own script and style, which send nothing and make no markup from text. */
const GUIDE_POLICY = pagePolicy(["style-src 'self'", 'img-src data:'], "'none'");

/**
 * For a script that is not ours. Nothing from or to another host, no script in the page and none from text. Style rules count under
 * this response's nonce; style attributes, which it writes into the markup that it makes, count on this page alone. Markup from text
 * is made under the policies of that script (`vue`) and ours (`default`).
 */
function referencePolicy(nonce: string): string {
  const styles = [`style-src 'self' 'nonce-${nonce}'`, "style-src-attr 'unsafe-inline'"];
  return pagePolicy([...styles, "img-src 'self' data:", "connect-src 'self'"], 'vue default');
}
