// Holds what a new operator touches outside of its own files: a list of files, and a number of lines.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATOR_IDS } from '../../src/domain/payments/operator-catalogue.ts';
import { linesNaming } from '../../tools/operator-lines.ts';
import { root } from '../support/source-tree.ts';

/** That of the operator that was added last: each line more is one more for the next. */
const MOST_LINES = 95;

describe('the operator that was added last', () => {
  const lines = linesNaming(OPERATOR_IDS.at(-1)!);

  it('is named outside of its own files in those alone that CONTRIBUTING.md lists', () => {
    const [, section = ''] = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('## Add an operator');
    const [list = ''] = section.split('\n## ');
    assert.deepEqual(
      [...lines.keys()].filter((file) => !list.includes(`\`${file}\``)),
      [],
    );
  });

  it(`is named there in at most ${MOST_LINES} lines`, () => {
    const sum = [...lines.values()].reduce((total, count) => total + count, 0);
    assert.ok(sum > 0 && sum <= MOST_LINES, `${sum} lines`);
  });
});
