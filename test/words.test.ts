// Checks the words of the texts that callers, staff and people on call read: none that docs/glossary.md
// replaced, no idiom that must be guessed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { trackedFiles, root } from './support/source-tree.ts';

/** Words of earlier versions, and idioms, that no text may have; the plain word is beside each. */
const RETIRED: readonly { readonly found: RegExp; readonly instead: string }[] = [
  { found: /\b(un)?heard\b/i, instead: 'received' },
  { found: /\bwitness(es)?\b/i, instead: 'attestation' },
  { found: /\bknocks?\b/i, instead: 'callback' },
  { found: /\b(courier|parcel)s?\b/i, instead: 'delivery' },
  { found: /\buntaken\b/i, instead: 'not accepted' },
  { found: /\blapsed?\b/i, instead: 'expired' },
  { found: /\banew\b/i, instead: 'again, or a new one' },
  { found: /\bof before\b/i, instead: 'previous' },
  { found: /\bnobody there is\b/i, instead: 'no member' },
  { found: /\bor no longer\b/i, instead: 'does not exist or is no longer open' },
  { found: /\b(is|are|went) away\b/i, instead: 'unavailable' },
  { found: /\bat the (most|least)\b/i, instead: 'at most, at least' },
  { found: /\bto be seen\b/i, instead: 'visible' },
  { found: /\b(not|be) looked (at|after)\b/i, instead: 'checked' },
  { found: /\bmay not any more\b/i, instead: 'no longer has permission' },
];

type Text = { readonly where: string; readonly text: string };

const files = trackedFiles.filter((file) => /^(src|workflows|activities|console)\/.*\.(tsx?|mjs)$/.test(file));
const pages = trackedFiles.filter((file) => /^(docs\/|deploy\/|README|CONTRIBUTING).*\.md$/.test(file));

/** Every text in the file: literals, the parts of templates, and what stands between tags. Parts joined by `+` are one text. */
function textsOf(file: string, content: string): Text[] {
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true);
  const found: Text[] = [];
  const add = (node: ts.Node, text: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    found.push({ where: `${file}:${line + 1}`, text: text.replace(/\s+/g, ' ') });
  };
  const visit = (node: ts.Node): void => {
    const text = joined(node);
    if (text !== null) {
      add(node, text);
      node.forEachChild(visitInside);
    } else node.forEachChild(visit);
  };
  // What a template or a sum is made of is in its text already; an expression inside may hold further texts.
  const visitInside = (node: ts.Node): void => {
    if (isPart(node) || isSum(node)) node.forEachChild(visitInside);
    else if (joined(node) === null) visit(node);
  };
  visit(source);
  return found;
}

/** The paragraphs, lists and tables of a page, each a text. */
function paragraphsOf(file: string, content: string): Text[] {
  return content.split(/\n\n+/).map((text) => ({ where: file, text: text.replace(/\s+/g, ' ') }));
}

function isSum(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
}

function isPart(node: ts.Node): boolean {
  return ts.isTemplateSpan(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
}

/** The text of a literal, a template or a sum of them, with `…` for what is filled in; null for anything else. */
function joined(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  }
  if (!isSum(node)) return null;
  const [left, right] = [joined(node.left), joined(node.right)];
  return left === null && right === null ? null : `${left ?? '…'}${right ?? '…'}`;
}

function faultsOf(texts: readonly Text[]): string[] {
  return texts.flatMap(({ where, text }) =>
    RETIRED.filter(({ found }) => found.test(text)).map(
      ({ found, instead }) => `${where}: “${found.exec(text)?.[0] ?? ''}”, better: ${instead}`,
    ),
  );
}

describe('the texts that people read', () => {
  it('have no retired word and no idiom that must be guessed', () => {
    const texts = files.flatMap((file) => textsOf(file, readFileSync(join(root, file), 'utf8')));
    assert.ok(texts.length > 10_000, `${texts.length} texts`);
    assert.deepEqual(faultsOf(texts), []);
  });

  it('have none in the documentation either', () => {
    const texts = pages.flatMap((file) => paragraphsOf(file, readFileSync(join(root, file), 'utf8')));
    assert.ok(texts.length > 1_000, `${texts.length} paragraphs`);
    assert.deepEqual(faultsOf(texts), []);
  });

  it('are found in literals, templates, sums over lines, and between tags', () => {
    const content = [
      `const a = 'Propose it anew.';`,
      'const b = `Heard of ${who(`a knock`)}.`;',
      `const c = 'kept as it was, of ' + 'before the change';`,
      `const d = <p>nobody there\n is can approve it</p>;`,
      `const fine = 'The proposer no longer has permission.';`,
      `const anew = 1; // anew`,
    ].join('\n');
    assert.deepEqual(
      faultsOf(textsOf('sample.tsx', content)).map((fault) => fault.replace(/, better:.*/, '')),
      [
        'sample.tsx:1: “anew”',
        'sample.tsx:2: “Heard”',
        'sample.tsx:2: “knock”',
        'sample.tsx:3: “of before”',
        'sample.tsx:4: “nobody there is”',
      ],
    );
  });
});
