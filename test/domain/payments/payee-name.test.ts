// When the name that a maker typed is the one that the operator has for the number.
import assert from 'node:assert/strict';
import { isSameName } from '../../../src/domain/payments/payee-name.ts';

const SAME: readonly (readonly [typed: string, name: string])[] = [
  ['Jane Nakato', 'JANE NAKATO'],
  ['nakato jane', 'JANE MARY NAKATO'],
  ['J. Nakato', 'JANE NAKATO'],
  ['Élodie N’Dri', "ELODIE N'DRI"],
  ['Jean-Paul Koné', 'KONE JEAN PAUL'],
  ['Jane Nakato', 'Jane N*****'],
  ['Jane', 'JANE NAKATO'],
];
const OTHER: readonly (readonly [typed: string, name: string])[] = [
  ['Jane Nakato', 'PETER OKELLO'],
  ['Jane Nakato', 'JANE OKELLO'],
  ['Jane Nakato', 'JANET NAKATO'],
  ['P. Nakato', 'JANE NAKATO'],
  ['Jane Nakato', 'Jane O*****'],
  ['Jane Nakato', '***** *****'],
];

describe('the name of a payee', () => {
  for (const [typed, name] of SAME) {
    it(`is the same when “${typed}” is typed and the operator has “${name}”`, () => {
      assert.equal(isSameName(typed, name), true);
    });
  }

  for (const [typed, name] of OTHER) {
    it(`differs when “${typed}” is typed and the operator has “${name}”`, () => {
      assert.equal(isSameName(typed, name), false);
    });
  }
});
