// The HTML of the sandbox's pages: text is escaped unless it is markup already, and all pages share one frame.
import { createHash } from 'node:crypto';
import type { Context } from 'koa';

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
  /** The page reloads by itself. Only for pages without input or text that a reload would interrupt. */
  readonly refreshSeconds?: number;
};

const STYLE = `
:root { color-scheme: light; font: 100%/1.5 system-ui, sans-serif; color: #1a1d21; background: #f3f4f6; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0.75rem; max-width: 44rem; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding: 0.5rem 0; }
a { color: #0b4fa8; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0.5rem 0 0.75rem; }
h2 { font-size: 1.1rem; line-height: 1.3; margin: 1.25rem 0 0.5rem; }
p { margin: 0.5rem 0; }
:focus-visible { outline: 3px solid #b3261e; outline-offset: 2px; }
label { display: block; font-weight: 600; }
input { font: inherit; width: 100%; min-height: 2.75rem; padding: 0.4rem 0.6rem; color: inherit; background: #fff;
  border: 2px solid #5b6470; border-radius: 0.5rem; }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0.4rem 0.9rem; color: #fff; background: #0b4fa8;
  border: 2px solid #0b4fa8; border-radius: 0.5rem; cursor: pointer; }
button.second { color: #1a1d21; background: #fff; border-color: #5b6470; }
.choices { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 0.75rem; }
.choices button { flex: 1 1 auto; }
.said { padding: 0.6rem 0.8rem; background: #fff; border-left: 0.3rem solid #0b4fa8; }
.wrong { color: #9b1c13; font-weight: 600; }
.card { margin: 0.75rem 0; padding: 0.75rem; background: #fff; border: 1px solid #c4c9d0; border-radius: 0.75rem; }
.card h2 { margin-top: 0; }
.phone { max-width: 21rem; margin: 0.75rem auto; padding: 2.25rem 0.6rem 1.5rem; position: relative; background: #1a1d21;
  border-radius: 2rem; }
.phone::before { content: ''; position: absolute; top: 1rem; left: 50%; width: 4rem; height: 0.3rem; margin-left: -2rem;
  background: #6b7480; border-radius: 0.15rem; }
.screen { min-height: 20rem; padding: 0.75rem; background: #e8edf3; border-radius: 0.9rem; }
.screen .number { margin: 0 0 0.5rem; text-align: center; font-weight: 600; }
.list { padding-left: 1.2rem; }
table { border-collapse: collapse; width: 100%; background: #fff; overflow-wrap: break-word; }
th, td { padding: 0.35rem 0.5rem; text-align: left; vertical-align: top; border: 1px solid #c4c9d0; }
`;

/** Allows only this page's own style, and forms that are sent to this origin. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function sendPage(ctx: Context, { title, content, refreshSeconds }: Page): void {
  const refresh =
    refreshSeconds === undefined ? NOTHING : markup`<meta http-equiv="refresh" content="${refreshSeconds}">`;
  ctx.type = 'html';
  // With no referrer at all, browsers hide the origin of the page's own forms, which the routes require.
  ctx.set({ 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'same-origin' });
  ctx.body = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh}
<title>${title} · Sandbox operator</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<nav aria-label="Sandbox operator"><ul>
<li><a href="/sandbox">Table</a></li>
<li><a href="/sandbox/handset">Handset</a></li>
<li><a href="/sandbox/operator">Operator</a></li>
</ul></nav>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.html;
}

function write(part: Part): string {
  if (typeof part === 'object') return 'html' in part ? part.html : part.map(({ html }) => html).join('\n');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
