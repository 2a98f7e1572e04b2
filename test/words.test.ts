// Checks the words of texts and comments: none that docs/glossary.md replaced, no idiom that must be guessed.
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

/** Turns that need a second reading, which neither texts nor comments of the code may have. */
const TURNS: typeof RETIRED = [
  ...RETIRED,
  { found: /\b(whoever|wherever)\b/i, instead: 'the person who, the place where' },
  { found: /\ball the same\b/i, instead: 'nevertheless' },
  { found: /\b(became|becomes?) of\b/i, instead: 'outcome' },
  { found: /\bcome to (its|their) end\b/i, instead: 'finish' },
  { found: /\bunder way\b/i, instead: 'in progress' },
  { found: /\bin the place of\b/i, instead: 'instead of' },
  { found: /\b[Nn]ull,? where\b/, instead: 'null if' },
  { found: /\byet to\b/i, instead: 'must still' },
  { found: /\btime-outs?\b/i, instead: 'timeout' },
  { found: /\bsimultaneous(ly)?\b/i, instead: 'concurrent' },
  { found: /\bby no process of ours\b/i, instead: 'unattested' },
  { found: /^the same (of|by)\b/i, instead: 'as the named function, for' },
];

type Text = { readonly where: string; readonly text: string };

// These two say which words are retired.
const WORD_LISTS = ['test/tidy.test.ts', 'test/words.test.ts'];
const PLAIN_FILES = /^(activities|workflows|console|chaos|tools|src|bench|test)\/.*\.(tsx?|mjs)$/;
const files = trackedFiles.filter((file) => PLAIN_FILES.test(file) && !WORD_LISTS.includes(file));
const schemaFiles = trackedFiles.filter((file) => /^src\/db\/schema\/.*\.sql$/.test(file));
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

/** The comments that have lines of their own; adjacent lines are one text. */
function commentsOf(file: string, content: string): Text[] {
  const found: { where: string; text: string; end: number }[] = [];
  content.split('\n').forEach((line, index) => {
    const text = /^\s*(?:\/\/|--|\/\*\*?|\*)(?!\/) ?(.*?)(?: \*\/)?$/.exec(line)?.[1];
    const last = found.at(-1);
    if (text === undefined) return;
    if (last?.end === index) Object.assign(last, { text: `${last.text} ${text}`.trim(), end: index + 1 });
    else found.push({ where: `${file}:${index + 1}`, text, end: index + 1 });
  });
  return found;
}

/** What stands between quotes in a file of SQL: what the database says, and its descriptions, whose adjacent parts are one text. */
function quotedTextsOf(file: string, content: string): Text[] {
  const code = content.replace(/^\s*--.*$/gm, '');
  return [...code.matchAll(/'(?:[^']|'')*'(?:\s+'(?:[^']|'')*')*/g)].map(([quoted]) => ({
    where: file,
    text: quoted.replace(/'\s+'/g, '').replaceAll("'", ''),
  }));
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

function faultsOf(texts: readonly Text[], retired = RETIRED): string[] {
  return texts.flatMap(({ where, text }) =>
    retired
      .filter(({ found }) => found.test(text))
      .map(({ found, instead }) => `${where}: “${found.exec(text)?.[0] ?? ''}”, better: ${instead}`),
  );
}

/** In these files no text and no comment has a fault, and there are more than so many. */
function assertPlain(sources: readonly string[], textsIn: typeof textsOf, least: number): void {
  const texts = sources.flatMap((file) => {
    const content = readFileSync(join(root, file), 'utf8');
    return [...textsIn(file, content), ...commentsOf(file, content)];
  });
  assert.ok(texts.length > least, `${texts.length} texts`);
  assert.deepEqual(faultsOf(texts, TURNS), []);
}

describe('the texts that people read', () => {
  it('have no retired word, no idiom and no turn that needs a second reading, nor have the comments beside them', () => {
    assertPlain(files, textsOf, 10_000);
  });

  it('have none in the schema, its comments and its descriptions either', () => {
    assertPlain(schemaFiles, quotedTextsOf, 1_000);
  });

  it('have none in the documentation either', () => {
    const texts = pages.flatMap((file) => paragraphsOf(file, readFileSync(join(root, file), 'utf8')));
    assert.ok(texts.length > 1_000, `${texts.length} paragraphs`);
    assert.deepEqual(faultsOf(texts, TURNS), []);
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

  it('are found in what the database says, and in its descriptions over several lines', () => {
    const content = `-- It's yet to come.\nRAISE EXCEPTION 'nobody''s, anew';\nCOMMENT ON TABLE a IS\n  'What is under '\n  'way.';\n`;
    assert.deepEqual(
      faultsOf([...quotedTextsOf('a.sql', content), ...commentsOf('a.sql', content)], TURNS).map(
        (fault) => /“(.*)”/.exec(fault)?.[1],
      ),
      ['anew', 'under way', 'yet to'],
    );
  });

  it('are found in comments over several lines', () => {
    const content = '  /**\n   * Null while it is under\n   * way.\n   */\n  const a = 1;\n  // Whoever asks.\n';
    assert.deepEqual(
      faultsOf(commentsOf('sample.ts', content), TURNS).map((fault) => fault.replace(/, better:.*/, '')),
      ['sample.ts:1: “under way”', 'sample.ts:6: “Whoever”'],
    );
  });
});
