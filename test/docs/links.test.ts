// Tests that every link of every Markdown page of the project leads to a file that is there, and to a heading of it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { marked, type Token } from 'marked';
import { trackedFiles, root } from '../support/source-tree.ts';

/** A page of the running server that is made of no Markdown. */
const SERVED = '/docs/reference';

type Page = {
  readonly links: readonly string[];
  /** Files that the text names in full, from the project's folder. */
  readonly names: readonly string[];
  readonly anchors: ReadonlySet<string>;
};

function readPage(markdown: string): Page {
  const links: string[] = [];
  const names: string[] = [];
  const anchors = new Set<string>();
  // `marked` takes a footnote for the definition of a link.
  const withoutFootnotes = markdown.replaceAll(/^\[\^\d+\]: /gm, '');
  void marked.walkTokens(marked.lexer(withoutFootnotes), (token: Token) => {
    if (token.type === 'link' || token.type === 'image') links.push(String(token.href));
    if (token.type === 'codespan' && isPath(textOf(token))) names.push(textOf(token));
    if (token.type === 'heading') anchors.add(freeAnchor(anchorOf(textOf(token)), anchors));
    if (token.type === 'html') for (const [, id = ''] of token.raw.matchAll(/ id="([^"]+)"/g)) anchors.add(id);
  });
  return { links, names, anchors };
}

/** One with a placeholder or a pattern is none. */
function isPath(code: string): boolean {
  return /^(src|workflows|activities|console|test|tools|bench|chaos|alerts|docs|deploy|bin)\/[\w./-]+\.\w+$/.test(code);
}

function textOf(token: Token): string {
  const { tokens, text = '' } = token as { readonly tokens?: Token[]; readonly text?: string };
  return tokens === undefined ? text : tokens.map(textOf).join('');
}

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

function freeAnchor(anchor: string, taken: ReadonlySet<string>): string {
  for (let number = 0; ; number += 1) {
    const candidate = number === 0 ? anchor : `${anchor}-${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/** Why a link of a file is broken; null if it is valid, or leads out of the project. */
function faultOf(file: string, link: string): string | null {
  if (/^(https?|mailto):/.test(link)) return null;
  const [path = '', anchor] = decodeURIComponent(link).split('#');
  const target = path === '' ? file : normalize(join(dirname(file), path));
  if (path === SERVED) return null;
  const isOutside = target.startsWith('..') || path.startsWith('/');
  if (isOutside || !existsSync(join(root, target))) return 'no such file';
  if (anchor === undefined) return null;
  if (!target.endsWith('.md') || statSync(join(root, target)).isDirectory()) return 'no page with headings';
  const { anchors } = readPage(readFileSync(join(root, target), 'utf8'));
  return anchors.has(anchor) ? null : 'no such heading';
}

describe('a link in a Markdown page', () => {
  const files = trackedFiles.filter((file) => file.endsWith('.md'));

  it('leads to a file that is there, and to one of its headings', () => {
    const faults = files.flatMap((file) =>
      readPage(readFileSync(join(root, file), 'utf8')).links.flatMap((link) => {
        const fault = faultOf(file, link);
        return fault === null ? [] : [`${file}: ${link}: ${fault}`];
      }),
    );
    assert.deepEqual(faults, []);
    const absent = files.flatMap((file) =>
      readPage(readFileSync(join(root, file), 'utf8'))
        .names.filter((name) => !existsSync(join(root, name)))
        .map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(absent, []);
    assert.ok(files.includes('README.md') && files.includes('docs/guides/webhooks.md'));
  });

  it('is found to lead nowhere when its file, its heading or its folder is not there', () => {
    const { links } = readPage(
      '[a](src/none.ts), ![b](docs/none.png) and\n\n[c]: README.md#none\n\n| [c] |\n| --- |\n',
    );
    assert.deepEqual(links, ['src/none.ts', 'docs/none.png', 'README.md#none']);
    assert.deepEqual(
      [...links, '#a-first-payout', 'docs/decisions', 'docs/decisions#a', '../other', '/etc'].map((link) =>
        faultOf('README.md', link),
      ),
      [
        'no such file',
        'no such file',
        'no such heading',
        null,
        null,
        'no page with headings',
        'no such file',
        'no such file',
      ],
    );
    assert.equal(faultOf('docs/guides/webhooks.md', '#verify-the-signature'), null);
    const { anchors } = readPage('# Who `may` do it?\n\n## Who may do it\n');
    assert.deepEqual([...anchors], ['who-may-do-it', 'who-may-do-it-1']);
  });
});
