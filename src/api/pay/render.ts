// Makes the HTML of a page from its template, and sends it under a policy of its own.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { Eta } from 'eta';
import { newToken } from '../../security/token.ts';
import type { ApiContext } from '../context.ts';
import { pagePolicy } from '../static-files.ts';
import { isMissing, LANGUAGES, say, sayAsMarkup, type Language, type Values } from './texts.ts';
import type { TextKey } from './texts-en.ts';

const folder = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const STYLE = readFileSync(folder('./style.css'), 'utf8').replace(/\n/g, '');
const SCRIPT = readFileSync(folder('./refresh.js'));
/** The name has the digest of the content, so browsers keep it. */
export const SCRIPT_PATH = `/pay/assets/refresh.${createHash('sha256').update(SCRIPT).digest('hex').slice(0, 16)}.js`;
// Whatever a template shows is escaped, but for what it marks as markup: templates, the style, and attributes that we write.
const templates = new Eta({ views: folder('./templates'), cache: true, autoEscape: true, autoTrim: false });
/** Pages are small: more effort would save tens of bytes. */
const BROTLI_QUALITY = 6;

export type Page = {
  readonly template: 'form' | 'status' | 'message' | 'receipt';
  readonly status?: number;
  readonly language: Language;
  /** The language that the payer chose, which the addresses of all further pages name; null: that of the browser. */
  readonly chosenLanguage: Language | null;
  /** Of the document, before the merchant's name. */
  readonly title: TextKey;
  readonly values: Values;
  /** This page's own address, without the language. */
  readonly here: string;
  readonly isTest: boolean;
  /** While something is awaited, how soon it is read again. */
  readonly refreshSeconds?: number | null;
  /** What the template shows besides. */
  readonly data?: Readonly<Record<string, unknown>>;
};

/** The address in the language that the payer chose, if they chose one. */
export function inLanguage(path: string, language: Language | null): string {
  return language === null ? path : `${path}?lang=${language}`;
}

export function sendPage(ctx: ApiContext, page: Page): void {
  const { language, values, here, chosenLanguage } = page;
  const { token: nonce } = newToken();
  const words = {
    // Markup, as is the attribute of a part in another language than the page.
    say: (key: TextKey) => sayAsMarkup(page, key, templates.config.escapeFunction),
    lang: (key: TextKey) => (isMissing(language, key) ? ' lang="en"' : ''),
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

/** The merchant's name tells one open page from another. */
function titleOf({ language, title, values }: Page): string {
  const text = say(language, title, values);
  const { merchant = '' } = values;
  return merchant === '' || text.includes(merchant) ? text : `${text} – ${merchant}`;
}

export function sendScript(ctx: ApiContext): void {
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  sendCompressed(ctx, 'js', SCRIPT);
}

// No page that has a secret of its reader shows anything that another site could have put there, so its size tells nobody anything.
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

/** Our own script and forms alone, no markup from a script, and no style but the one under this response's nonce. */
function policyOf(nonce: string): string {
  const allowed = [`style-src 'nonce-${nonce}'`, 'img-src data:', "connect-src 'self'"];
  return pagePolicy(allowed, "'none'", "'self'");
}
