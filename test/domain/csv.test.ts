// CSV: what a spreadsheet reads back is what was written, and nothing of it is run.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { csvLine } from '../../src/domain/csv.ts';

/** Reads one line as RFC 4180 has it. */
function read(line: string): string[] {
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|\r\n)/gsy;
  for (let found; (found = cell.exec(line)) !== null;) cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
  return cells;
}

describe('a line of CSV', () => {
  it('is read back unchanged, whatever people wrote', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom(',', '"', '\r', '\n', ' ', 'a') }),
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
        const cells = read(csvLine(texts.map((each) => ({ text: each }))));
        assert.deepEqual(
          cells.map((cell, index) => (cell === `'${texts[index]}` ? texts[index] : cell)),
          texts,
        );
      }),
    );
  });

  for (const text of [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    ' =1',
    '＝1',
    '|cmd',
    '\r=1',
    '=HYPERLINK("https://x.example","y")',
  ]) {
    it(`has an apostrophe before ${JSON.stringify(text)}, which a spreadsheet would run`, () => {
      assert.deepEqual(read(csvLine([{ text }])), [`'${text}`]);
    });
  }

  it('writes numbers as numbers, negative ones too, and nothing for null', () => {
    assert.equal(csvLine([-5000n, '-50.00', null, { text: null }, { text: 'INV-1' }]), '-5000,-50.00,,,INV-1\r\n');
  });
});
