// Renders the HTML of a page from its template, and sends it under its own policy.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { Eta } from 'eta';
import { newToken } from '../../security/token.ts';
import type { ApiContext } from '../context.ts';
import { pagePolicy } from '../static-files.ts';
import { isUntranslated, LANGUAGES, say, sayAsMarkup, type Language, type Values } from './texts.ts';
import type { TextKey } from './texts-en.ts';

const folder = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const STYLE = readFileSync(folder('./style.css'), 'utf8').replace(/\n/g, '');
const SCRIPT = readFileSync(folder('./refresh.js'));
/** The name carries the digest of the content, so browsers keep the file. */
export const SCRIPT_PATH = `/pay/assets/refresh.${createHash('sha256').update(SCRIPT).digest('hex').slice(0, 16)}.js`;
// Every value in a template is escaped, except markup that we make: templates, the style, and attributes.
const templates = new Eta({ views: folder('./templates'), cache: true, autoEscape: true, autoTrim: false });
/** Pages are small: a higher quality would save only tens of bytes. */
const BROTLI_QUALITY = 6;

export type Page = {
  readonly template: 'form' | 'status' | 'message' | 'receipt';
  readonly status?: number;
  readonly language: Language;
  /** The language that the payer chose, which all further addresses carry; null: the language of the browser. */
  readonly chosenLanguage: Language | null;
  /** The title of the document, before the merchant's name. */
  readonly title: TextKey;
  readonly values: Values;
  /** The address of this page, without the language. */
  readonly here: string;
  readonly isTest: boolean;
  /** Seconds until the page loads again, while it awaits an outcome. */
  readonly refreshSeconds?: number | null;
  readonly data?: Readonly<Record<string, unknown>>;
};

/** The address with the language that the payer chose, if any. */
export function inLanguage(path: string, language: Language | null): string {
  return language === null ? path : `${path}?lang=${language}`;
}

export function sendPage(ctx: ApiContext, page: Page): void {
  const { language, values, here, chosenLanguage } = page;
  const { token: nonce } = newToken();
  const words = {
    // Markup, like the attribute of a part in another language than the page.
    say: (key: TextKey) => sayAsMarkup(page, key, templates.config.escapeFunction),
    lang: (key: TextKey) => (isUntranslated(language, key) ? ' lang="en"' : ''),
  };
  const html = templates.render(`./${page.template}`, {
    ...values,
    ...words,
    language,
    chosenLanguage,
    here,
    nonce,
    isTest: page.isTest,
    style: ctx.get('Malipo-Unstyled') === '' ? STYLE : '',
    script: SCRIPT_PATH,
    title: titleOf(page),
    refreshSeconds: page.refreshSeconds ?? null,
    languages: LANGUAGES.map((tag) => ({
      tag,
      name: say(tag, 'language'),
      isCurrent: tag === language,
      href: inLanguage(here, tag),
    })),
    ...page.data,
  });
  ctx.status = page.status ?? 200;
  ctx.set('Content-Security-Policy', policyOf(nonce));
  ctx.set('Content-Language', language);
  ctx.set('X-Robots-Tag', 'noindex, nofollow');
  sendCompressed(ctx, 'html', Buffer.from(html.replace(/\n\s*\n/g, '\n').trimStart()));
}

/** The merchant's name distinguishes open pages. */
function titleOf({ language, title, values }: Page): string {
  const text = say(language, title, values);
  const { merchant = '' } = values;
  return merchant === '' || text.includes(merchant) ? text : `${text} – ${merchant}`;
}

export function sendScript(ctx: ApiContext): void {
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  sendCompressed(ctx, 'js', SCRIPT);
}

// A page with a secret of its reader shows nothing that another site could have put there, so its size reveals nothing.
function sendCompressed(ctx: ApiContext, type: string, plain: Buffer): void {
  ctx.vary('Accept-Encoding');
  ctx.type = type;
  const coding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  if (coding === 'br' || coding === 'gzip') ctx.set('Content-Encoding', coding);
  ctx.body =
    coding === 'br'
      ? brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
      : coding === 'gzip'
        ? gzipSync(plain)
        : plain;
}

/** Allows our own script and forms, no markup from a script, and no style except under the nonce of this response. */
function policyOf(nonce: string): string {
  const allowed = [`style-src 'nonce-${nonce}'`, 'img-src data:', "connect-src 'self'"];
  return pagePolicy(allowed, "'none'", "'self'");
}
