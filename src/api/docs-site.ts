// Serves the built documentation under /docs: the guides, the API reference, and the files that these load.
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
/** The name of each of these files carries the digest of its content. */
const NAMED_BY_CONTENT = `${PREFIX}/assets/`;
/** A page names files by their content, so a cached page must not stay in use long after a release. */
const PAGE_KEPT = 'public, max-age=300';

export type DocsSite = ReadonlyMap<string, StaticFile>;

/** Reads the whole site from the first of these folders that has it. Null if it was not built. */
export function loadDocsSite(folders: readonly string[]): DocsSite | null {
  const files = readStaticFiles(folders, FIRST_PAGE);
  return files && new Map([...files].map(([name, file]) => [pathOf(name), file]));
}

function pathOf(name: string): string {
  return name === FIRST_PAGE ? PREFIX : `${PREFIX}/${name.replace(/\.html$/, '')}`;
}

/** Passes on every path that the site does not have. Throws `method_not_allowed`. */
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

/** The policy for our own script and style, which send nothing and make no markup from text. */
const GUIDE_POLICY = pagePolicy(["style-src 'self'", 'img-src data:'], "'none'");

/**
 * The policy for a third-party script. Nothing goes to or comes from another host, and the page has no inline script.
 * Style rules count under the nonce of this response. The script writes style attributes into its markup: they count on
 * this page alone. Markup from text is made under the policies of that script (`vue`) and ours (`default`).
 */
function referencePolicy(nonce: string): string {
  const styles = [`style-src 'self' 'nonce-${nonce}'`, "style-src-attr 'unsafe-inline'"];
  return pagePolicy([...styles, "img-src 'self' data:", "connect-src 'self'"], 'vue default');
}
