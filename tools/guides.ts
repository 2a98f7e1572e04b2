// Renders the guides of docs/guides to HTML pages of one layout; the build writes them, and their tests read them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type RendererObject } from 'marked';

/** In the order of the navigation. The first is the page at /docs itself. */
export const GUIDES = [
  { slug: '', file: 'index.md', short: 'Overview' },
  { slug: 'first-payment', file: 'first-payment.md', short: 'First payment' },
  { slug: 'states', file: 'states.md', short: 'Payment states' },
  { slug: 'webhooks', file: 'webhooks.md', short: 'Webhooks' },
  { slug: 'checkouts', file: 'checkouts.md', short: 'Checkouts' },
  { slug: 'test-numbers', file: 'test-numbers.md', short: 'Test numbers' },
  { slug: 'errors', file: 'errors.md', short: 'Errors' },
  { slug: 'idempotency', file: 'idempotency.md', short: 'Idempotency' },
  { slug: 'going-live', file: 'going-live.md', short: 'Going live' },
] as const;

/** The downloads of the guides, by their path under /docs. */
export const DOWNLOADS = {
  'examples/webhook-receiver.mjs': 'docs/examples/webhook-receiver.mjs',
  'webhook-test-vectors.json': 'docs/webhook-test-vectors.json',
} as const;

export type Guide = (typeof GUIDES)[number];
/** The addresses of the files that every page loads. */
export type Assets = { readonly style: string; readonly script: string };

type Heading = { readonly id: string; readonly depth: number; readonly html: string };

export function addressOf(slug: string): string {
  return slug === '' ? '/docs' : `/docs/${slug}`;
}

/** The whole page. Throws for a link whose target the site lacks. */
export function renderGuide(guide: Guide, root: string, assets: Assets): string {
  const headings: Heading[] = [];
  const marked = new Marked({ gfm: true, renderer: rendererOf(headings) });
  const body = marked.parse(readFileSync(join(root, 'docs/guides', guide.file), 'utf8'), { async: false });
  const title = plain(headings.find(({ depth }) => depth === 1)?.html ?? guide.short);
  return layout({ guide, title, body, headings: headings.filter(({ depth }) => depth === 2), assets });
}

function rendererOf(headings: Heading[]): RendererObject {
  return {
    heading({ tokens, depth }) {
      const html = this.parser.parseInline(tokens);
      const id = freshId(plain(html), headings);
      headings.push({ id, depth, html });
      if (depth === 1) return `<h1 id="${id}">${html}</h1>\n`;
      return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${html}</a></h${depth}>\n`;
    },
    // Long lines scroll inside their block, which a keyboard reaches.
    code({ text, lang = '' }) {
      const label = { sh: 'Shell', json: 'JSON', js: 'Node', go: 'Go', python: 'Python', http: 'HTTP' }[lang] ?? 'Text';
      return `<div class="code" data-language="${escape(lang)}"><span class="language">${label}</span><pre tabindex="0" role="region" aria-label="${label}"><code>${escape(text)}</code></pre></div>\n`;
    },
    link({ href, tokens }) {
      return `<a href="${escape(linkOf(href))}">${this.parser.parseInline(tokens)}</a>`;
    },
    // Guides contain only Markdown: HTML is shown as text, except the comments of authors.
    html({ text }) {
      return /^<!--[^]*-->\s*$/.test(text) ? '' : escape(text);
    },
    checkbox({ checked }) {
      return `<span class="box" aria-hidden="true">${checked ? '☑' : '☐'}</span> `;
    },
    table(token) {
      const cells = (row: typeof token.header, tag: 'th' | 'td') =>
        row.map(({ tokens }) => cell(tag, this.parser.parseInline(tokens))).join('');
      const head = token.header.some(({ text }) => text !== '')
        ? `<thead><tr>${cells(token.header, 'th')}</tr></thead>`
        : '';
      const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
      return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
    },
  };
}

function cell(tag: 'th' | 'td', html: string): string {
  if (tag === 'td') return `<td>${html}</td>`;
  return html === '' ? '<td></td>' : `<th scope="col">${html}</th>`;
}

/** A file of this folder is the page made from it; a file beside it is a download. */
function linkOf(href: string): string {
  if (href.startsWith('#')) return href;
  const [path = '', hash] = href.split('#');
  const after = hash === undefined ? '' : `#${hash}`;
  const guide = GUIDES.find(({ file }) => file === path);
  if (guide !== undefined) return addressOf(guide.slug) + after;
  const download = Object.entries(DOWNLOADS).find(([, file]) => `../${file.slice('docs/'.length)}` === path);
  if (download !== undefined) return `/docs/${download[0]}`;
  if (path === '/docs/reference') return path + after;
  throw new Error(`a guide links to ${href}, which the documentation does not have`);
}

function freshId(text: string, earlier: readonly Heading[]): string {
  const id = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .trim()
    .replace(/ +/g, '-');
  return earlier.some((heading) => heading.id === id) ? `${id}-${earlier.length}` : id;
}

type Layout = {
  readonly guide: Guide;
  readonly title: string;
  readonly body: string;
  readonly headings: readonly Heading[];
  readonly assets: Assets;
};

function layout({ guide, title, body, headings, assets }: Layout): string {
  const position = GUIDES.indexOf(guide);
  const [previous, next] = [GUIDES[position - 1], GUIDES[position + 1]];
  const contents = headings.map(({ id, html }) => `<li><a href="#${id}">${html}</a></li>`).join('\n');
  const pageTitle = guide.slug === '' ? 'Malipo documentation' : `${title} · Malipo`;
  return `${head({ title: pageTitle, styles: [assets.style], scripts: [assets.script] })}
<body>
<a class="skip" href="#content">Skip to the content</a>
${header(guide.slug)}
<div class="columns">
<nav class="guides" aria-label="Guides"><ul>
${navigation(guide.slug)}
</ul></nav>
<main id="content">
${body}
<nav class="around" aria-label="Before and after">
${previous === undefined ? '<span></span>' : `<a rel="prev" href="${addressOf(previous.slug)}"><span>Before</span>${previous.short}</a>`}
${next === undefined ? '<span></span>' : `<a rel="next" href="${addressOf(next.slug)}"><span>Next</span>${next.short}</a>`}
</nav>
</main>
${contents === '' ? '<div class="contents"></div>' : `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>\n${contents}\n</ul></nav>`}
</div>
</body>
</html>
`;
}

type Head = {
  readonly title: string;
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  readonly meta?: string;
};

/** The document up to its body; `styles` and `scripts` are addresses. */
export function head({ title, styles, scripts, meta = '' }: Head): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">${meta}
<title>${title}</title>
<link rel="icon" href="data:,">
${styles.map((address) => `<link rel="stylesheet" href="${address}">`).join('\n')}
${scripts.map((address) => `<script src="${address}" defer></script>`).join('\n')}
</head>`;
}

/** The bar at the top of each page, including the reference. */
export function header(slug: string): string {
  const current = (isHere: boolean) => (isHere ? ' aria-current="true"' : '');
  return `<header class="bar">
<a class="name" href="/docs">Malipo <span>documentation</span></a>
<nav aria-label="Documentation"><a href="/docs"${current(slug !== 'reference')}>Guides</a><a href="/docs/reference"${current(slug === 'reference')}>API reference</a><a href="/console">Console</a></nav>
</header>`;
}

function navigation(slug: string): string {
  return GUIDES.map(
    (each) =>
      `<li><a href="${addressOf(each.slug)}"${each.slug === slug ? ' aria-current="page"' : ''}>${each.short}</a></li>`,
  ).join('\n');
}

function plain(html: string): string {
  return html.replace(/<[^>]*>/g, '').replaceAll('&#39;', '’');
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
