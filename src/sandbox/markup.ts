// The HTML of the sandbox's pages: text is escaped unless it is already markup, and all pages share one frame.
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { LIVE_SCRIPT } from './live-script.ts';

/** HTML that is safe to put into a page unchanged. */
export type Markup = { readonly html: string };

type Part = string | number | Markup | readonly Markup[];

export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const written = parts.map((part, index) => write(part) + (texts[index + 1] ?? ''));
  return { html: (texts[0] ?? '') + written.join('') };
}

export const NOTHING: Markup = { html: '' };

type Page = {
  readonly title: string;
  readonly content: Markup;
  /** Without scripts the page reloads by itself. Only for pages without input or text that a reload would interrupt. */
  readonly refreshSeconds?: number;
  /** With scripts the parts marked `data-live` are updated. */
  readonly isLive?: boolean;
  readonly isWide?: boolean;
};

const STYLE = `
:root { color-scheme: light dark; --page: light-dark(#f3f4f6, #14171c); --raised: light-dark(#fff, #1d2128);
  --text: light-dark(#1a1d21, #e8eaed); --quiet: light-dark(#555d68, #a9b1bc); --line: light-dark(#c4c9d0, #3f4651);
  --edge: light-dark(#5b6470, #99a2ae); --accent: light-dark(#0b4fa8, #8ab8ff); --on-accent: light-dark(#fff, #10151d);
  --wrong: light-dark(#9b1c13, #ff9d94); --good: light-dark(#0a6638, #62d69b); --waits: light-dark(#7a4b00, #ffc66d);
  font: 100%/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0.75rem; max-width: 44rem; overflow-wrap: anywhere; }
body.wide { max-width: 68rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0; padding: 0; list-style: none; border-bottom: 1px solid var(--line); }
nav a { display: inline-block; padding: 0.5rem 0; color: var(--quiet); text-decoration: none; border-bottom: 2px solid transparent; }
nav a:hover, nav a[aria-current] { color: var(--text); border-color: var(--accent); }
a { color: var(--accent); }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 1rem 0 0.75rem; }
h2 { font-size: 1.1rem; line-height: 1.3; margin: 1.25rem 0 0.5rem; }
p { margin: 0.5rem 0; }
.quiet, #live { color: var(--quiet); font-size: 0.875rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
label { display: block; font-weight: 600; }
input { font: inherit; width: 100%; min-height: 2.75rem; padding: 0.4rem 0.6rem; color: inherit; background: var(--raised);
  border: 2px solid var(--edge); border-radius: 0.5rem; }
input::placeholder { color: var(--quiet); opacity: 1; }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0.4rem 0.9rem; color: var(--on-accent); background: var(--accent);
  border: 2px solid var(--accent); border-radius: 0.5rem; cursor: pointer; }
button.second { color: var(--text); background: var(--raised); border-color: var(--edge); }
.choices { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 0.75rem; }
.choices button { flex: 1 1 auto; }
.search { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; margin: 1rem 0; }
.search input { width: 15rem; }
.said { padding: 0.6rem 0.8rem; background: var(--raised); border-left: 0.3rem solid var(--accent); }
.wrong { color: var(--wrong); font-weight: 600; }
.card { margin: 0.75rem 0; padding: 0.75rem; background: var(--raised); border: 1px solid var(--line); border-radius: 0.75rem; }
.card h2 { margin-top: 0; }
.phone { max-width: 21rem; margin: 0.75rem auto; padding: 2.25rem 0.6rem 1.5rem; position: relative; background: light-dark(#1a1d21, #3f4651);
  border-radius: 2rem; }
.phone::before { content: ''; position: absolute; top: 1rem; left: 50%; width: 4rem; height: 0.3rem; margin-left: -2rem;
  background: #6b7480; border-radius: 0.15rem; }
.screen { min-height: 20rem; padding: 0.75rem; background: light-dark(#e8edf3, #14171c); border-radius: 0.9rem; }
.screen .number { margin: 0 0 0.5rem; text-align: center; font-weight: 600; }
.list { padding-left: 1.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--raised); overflow-wrap: break-word; }
th, td { padding: 0.4rem 0.6rem; text-align: left; vertical-align: top; border: 1px solid var(--line); }
.transactions .amount { text-align: right; white-space: nowrap; }
.transactions td { border-width: 1px 0; }
.transactions .choices { margin: 0.4rem 0 0.2rem; }
.transactions .choices button { flex: 0 1 auto; min-height: 2.25rem; padding: 0.15rem 0.7rem; }
.transactions .quiet { overflow-wrap: anywhere; }
.state { font-weight: 600; }
.successful .state { color: var(--good); }
.failed .state { color: var(--wrong); }
.pending .state { color: var(--waits); }
@media (max-width: 44rem) {
  .transactions, .transactions tbody, .transactions tr, .transactions td { display: block; }
  .transactions thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .transactions tr { padding: 0.5rem 0; border: 1px solid var(--line); border-width: 1px 0; }
  .transactions td { display: grid; grid-template-columns: 6rem minmax(0, 1fr); padding: 0.15rem 0.6rem; border: 0; }
  .transactions td::before { content: attr(data-label); grid-row: 1 / span 4; color: var(--quiet); }
  .transactions td > * { grid-column: 2; }
  .transactions br { display: none; }
  .transactions .amount { text-align: left; }
}
`;

const SCRIPT = `<script type="module">${LIVE_SCRIPT}</script>`;

/** Allows only this page's own style and script, and the script's fetches and the page's forms to this origin. */
const POLICY = [
  "default-src 'none'",
  `style-src '${digest(STYLE)}'`,
  `script-src '${digest(LIVE_SCRIPT)}'`,
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types live',
].join('; ');

const PAGES = [
  ['/sandbox', 'Table'],
  ['/sandbox/transactions', 'Transactions'],
  ['/sandbox/handset', 'Handset'],
  ['/sandbox/operator', 'Operator'],
] as const;

export function sendPage(ctx: Context, { title, content, refreshSeconds, isLive = false, isWide = false }: Page): void {
  const refresh =
    refreshSeconds === undefined
      ? NOTHING
      : markup`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`;
  const links = PAGES.map(
    ([path, name]) =>
      markup`<li><a href="${path}"${ctx.path === path ? { html: ' aria-current="page"' } : NOTHING}>${name}</a></li>`,
  );
  ctx.type = 'html';
  // Under the policy `no-referrer` browsers hide the origin of the page's own forms, which the routes require.
  ctx.set({ 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'same-origin' });
  ctx.body = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh}
<title>${title} · Sandbox operator</title>
<link rel="icon" href="data:,">
<style>${{ html: STYLE }}</style>
</head>
<body${isWide ? { html: ' class="wide"' } : NOTHING}>
<nav aria-label="Sandbox operator"><ul>
${links}
</ul></nav>
<main>
<h1>${title}</h1>
${content}
${isLive ? { html: `<p id="live"></p>\n${SCRIPT}` } : NOTHING}
</main>
</body>
</html>
`.html;
}

function write(part: Part): string {
  if (typeof part === 'object') return 'html' in part ? part.html : part.map(({ html }) => html).join('\n');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
