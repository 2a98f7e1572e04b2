// Checks docs/security.md: what it names exists, its table is complete in itself, and its inventories name every file.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { secretFileSettings } from '../../src/settings/config.ts';
import { APPLICATION_RIGHTS } from '../../src/db/platform/access.ts';
import { trackedFiles, root } from '../support/source-tree.ts';

const PAGE = 'docs/security.md';
const page = readFileSync(join(root, PAGE), 'utf8');

const VERDICTS = ['met', 'partly', 'not met', 'n/a'] as const;
const CHAPTERS = 17;
/** A path of the project as the page writes it: from its root, in code. */
const PATH =
  /^(?:(?:src|test|activities|workflows|tools|docs|bench|chaos|alerts)\/[\w./-]+|[\w.-]+\.(?:ts|mjs|js|json|md|yml)|Dockerfile|\.npmrc)$/;

type Row = { readonly id: string; readonly level: string; readonly verdict: string; readonly heldBy: string };

type Evidence = { readonly file: string; readonly titles: readonly string[] };

/** The tests of each footnote, by its number: parts of their titles. */
const EVIDENCE = JSON.parse(readFileSync(join(root, 'test/docs/security-evidence.json'), 'utf8')) as Readonly<
  Record<string, Evidence>
>;

/** Code of the page that looks like a path. */
function paths(): string[] {
  return [...page.matchAll(/`([^`\n]+)`/g)].map(([, path = '']) => path).filter((path) => PATH.test(path));
}

/** The texts in a file's code, with an ellipsis where something is inserted; comments are none. */
function textsIn(path: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node)) {
      texts.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest));
  return texts;
}

/** The text of each footnote, by its number. */
function footnotes(): ReadonlyMap<string, string> {
  return new Map([...page.matchAll(/^\[\^([0-9]+)\]: (.+)$/gm)].map(([, number = '', text = '']) => [number, text]));
}

/** The lines of the standard, with the evidence of their footnotes. */
function rows(): Row[] {
  const evidence = footnotes();
  return page
    .split('\n')
    .filter((line) => /^\|V[0-9]/.test(line))
    .map((line) => line.replace(/\[\^([0-9]+)\]/g, (_, number: string) => ` ${evidence.get(number) ?? ''}`))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, id = '', level = '', , verdict = '', ...rest]) => ({ id, level, verdict, heldBy: rest.join(' ').trim() }));
}

function numberOf(id: string): number {
  const [chapter = 0, section = 0, line = 0] = id.slice(1).split('.').map(Number);
  return (chapter * 100 + section) * 100 + line;
}

const sourceFiles = trackedFiles.filter((file) => /^(src|activities|workflows)\/.*\.ts$/.test(file));

describe('docs/security.md', () => {
  it('names only files and links that exist', () => {
    const links = [...page.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link = '']) => link);
    const local = links.filter((link) => !link.includes('://')).map((link) => join(dirname(PAGE), link));
    const named = paths();
    assert.ok(named.length > 200 && local.length > 0, `${named.length} paths and ${local.length} links`);
    const missing = [...new Set([...named, ...local])].filter((path) => !existsSync(join(root, path)));
    assert.deepEqual(missing, []);
  });

  it('rests on tests that their files have, each by its title or by a part of one title alone', () => {
    const texts = new Map<string, ReadonlySet<string>>();
    const missing = Object.values(EVIDENCE).flatMap(({ file, titles }) => {
      if (!existsSync(join(root, file))) return [file];
      const inFile = texts.get(file) ?? new Set(textsIn(file));
      texts.set(file, inFile);
      const isClear = (title: string) =>
        inFile.has(title) || [...inFile].filter((text) => text.includes(title)).length === 1;
      return titles.filter((title) => !isClear(title)).map((title) => `${file}: ${title}`);
    });
    assert.deepEqual(missing, []);
  });

  it('has each footnote that it refers to, and no other, each with its file and a test of it', () => {
    const referred = new Set([...page.matchAll(/\[\^([0-9]+)\](?!:)/g)].map(([, number = '']) => number));
    const notes = footnotes();
    assert.ok(notes.size > 100, `${notes.size} footnotes`);
    assert.deepEqual([...notes.keys()].sort(), [...referred].sort());
    assert.deepEqual([...notes.keys()].sort(), Object.keys(EVIDENCE).sort());
    assert.equal([...page.matchAll(/^\[\^[^\]]*\]:/gm)].length, notes.size);
    for (const [number, text] of notes) {
      const { file, titles } = EVIDENCE[number]!;
      assert.equal(text, `\`${file}\``, number);
      assert.ok(titles.length > 0 && titles.every((title) => title !== ''), number);
    }
  });

  it('has each line of the standard once, in order, with its level and one of four verdicts', () => {
    const all = rows();
    assert.ok(all.length > 200, `${all.length} lines`);
    for (const { id, level, verdict, heldBy } of all) {
      assert.match(id, /^V([1-9]|1[0-7])\.[1-9]\.[1-9][0-9]?$/);
      assert.match(level, /^[123]$/, id);
      assert.ok(
        VERDICTS.some((known) => known === verdict),
        `${id}: ${verdict}`,
      );
      assert.notEqual(heldBy, '', `${id} says nothing`);
    }
    const numbers = all.map(({ id }) => numberOf(id));
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    );
    for (let chapter = 1; chapter <= CHAPTERS; chapter++) assert.match(page, new RegExp(`^### V${chapter} `, 'm'));
  });

  it('calls nothing met that no file holds', () => {
    const unheld = rows().filter(({ verdict, heldBy }) => {
      const paths = [...heldBy.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
      return verdict === 'met' && !paths.some((path) => PATH.test(path));
    });
    assert.deepEqual(unheld, []);
  });

  it('counts its own lines right', () => {
    const counted = VERDICTS.map((verdict) => rows().filter((row) => row.verdict === verdict).length);
    const [met = 0, partly = 0, notMet = 0, not = 0] = counted;
    const sentence = `${rows().length} lines: ${met} met, ${partly} partly, ${notMet} not met, ${not} that do not apply.`;
    assert.ok(page.includes(sentence), sentence);
  });

  it('gives every table of the database one level', () => {
    const levels = page.slice(page.indexOf('## Levels of data'), page.indexOf('What each gets.'));
    const rowsOfLevels = levels.split('\n').filter((line) => /^\|(secret|confidential|internal|public)\|/.test(line));
    assert.equal(rowsOfLevels.length, 4);
    const named = rowsOfLevels.flatMap((line) => [...line.matchAll(/`([a-z_]+)`/g)].map(([, table = '']) => table));
    assert.deepEqual(named.sort(), Object.keys(APPLICATION_RIGHTS).sort());
  });

  it('names every file that uses cryptography', () => {
    const users = sourceFiles.filter(
      (file) =>
        !/^src\/(dev|engines|cli|sandbox)\//.test(file) &&
        /from '(node:crypto|@node-rs\/argon2)'/.test(readFileSync(join(root, file), 'utf8')),
    );
    const named = new Set(paths());
    assert.ok(users.length > 10);
    assert.deepEqual(
      users.filter((file) => !named.has(file)),
      [],
    );
  });
});

describe('the pages of operations', () => {
  it('name for each secret setting who replaces it and how often', () => {
    const operations = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    const lines = operations.split('\n').filter((line) => /^\| ?`(MALIPO|OTEL)_/.test(line));
    for (const setting of [
      ...secretFileSettings().map((name) => name.replace(/_FILE$/, '')),
      'MALIPO_TEMPORAL_TLS_KEY_FILE',
    ]) {
      const [line, ...more] = lines.filter((one) => one.includes(`\`${setting}\``));
      assert.ok(line !== undefined && more.length === 0, setting);
      const [, , owner = '', every = '', how = ''] = line.split('|').map((cell) => cell.trim());
      assert.equal(owner, 'key custodians', setting);
      assert.match(every, /^[0-9]+ (months|days)/, setting);
      assert.notEqual(how, '', setting);
    }
  });
});

describe('the source', () => {
  it('starts programs in the tools of development alone', () => {
    const starting = sourceFiles.filter((file) =>
      readFileSync(join(root, file), 'utf8').includes('node:child_process'),
    );
    assert.deepEqual(
      starting.filter((file) => !file.startsWith('src/engines/')),
      [],
    );
  });

  it('evaluates no text as code', () => {
    const evaluating = sourceFiles.filter((file) =>
      /\beval\(|\bnew Function\(|from 'node:vm'/.test(readFileSync(join(root, file), 'utf8')),
    );
    assert.deepEqual(evaluating, []);
  });
});
