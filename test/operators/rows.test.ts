// The rows of the conformance suite, beside the sandbox operator's table.
import assert from 'node:assert/strict';
import { COLLECTION_BEHAVIOURS, PAYOUT_BEHAVIOURS } from '../../src/sandbox/behaviours.ts';
import { DIALECTS, rowsOf } from './rows.ts';

describe('the conformance suite', () => {
  for (const [name, behaviours] of [
    ['collection', COLLECTION_BEHAVIOURS],
    ['payout', PAYOUT_BEHAVIOURS],
  ] as const) {
    it(`has every row of the table in which a ${name} waits for no person, for every operator`, () => {
      for (const dialect of Object.values(DIALECTS)) {
        const rows = new Set(rowsOf(name, dialect).map(({ row }) => row));
        const missing = [...behaviours.keys()].filter((row) => !rows.has(row));
        assert.deepEqual(missing, ['099']);
      }
    });
  }
});
