// Holds the size of the documentation: a decision is a page, the README is for a newcomer, and somebody can read it all.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { valuesOf } from '../support/values-of.ts';
import { trackedFiles, root } from '../support/source-tree.ts';

const MAX_DECISION_LINES = 60;
const MAX_README_LINES = 120;
const MAX_README_BYTES = 9_000;
const MAX_WORDS = 50_000;

const pages = trackedFiles
  .filter((file) => file.endsWith('.md'))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

function linesOf(text: string): number {
  return text.trimEnd().split('\n').length;
}

describe('the documentation', () => {
  it(`has no decision of more than ${MAX_DECISION_LINES} lines`, () => {
    const decisions = pages.filter(({ file }) => file.startsWith('docs/decisions/'));
    assert.ok(decisions.length > 20, `${decisions.length} decisions`);
    const long = decisions.filter(({ text }) => linesOf(text) > MAX_DECISION_LINES);
    assert.deepEqual(
      long.map(({ file, text }) => `${file}: ${linesOf(text)} lines`),
      [],
    );
  });

  it('names in each decision the considered alternatives', () => {
    const decisions = pages.filter(({ file }) => file.startsWith('docs/decisions/'));
    const silent = decisions.filter(({ text }) => !/^## .*Considered/im.test(text));
    assert.deepEqual(valuesOf(silent, 'file'), []);
  });

  it(`begins with a README of at most ${MAX_README_LINES} lines and ${MAX_README_BYTES} bytes`, () => {
    const { text = '' } = pages.find(({ file }) => file === 'README.md') ?? {};
    assert.notEqual(text, '');
    assert.ok(linesOf(text) <= MAX_README_LINES, `${linesOf(text)} lines`);
    assert.ok(Buffer.byteLength(text) <= MAX_README_BYTES, `${Buffer.byteLength(text)} bytes`);
  });

  it(`has at most ${MAX_WORDS} words`, () => {
    // As `wc -w` counts them: the bars of a table are words too.
    const words = pages.reduce((sum, { text }) => sum + text.split(/\s+/).filter((word) => word !== '').length, 0);
    assert.ok(words <= MAX_WORDS, `${words} words`);
  });
});
