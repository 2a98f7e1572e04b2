// New passwords: what is refused because it is guessed first, and what is not.
import assert from 'node:assert/strict';
import { isEasilyGuessed } from '../../src/security/password-strength.ts';

const NAMES = ['Amina Okello', 'amina@duka.example', 'Duka la Amina'];

describe('a new password', () => {
  for (const password of [
    'password1234',
    'Password2024!',
    'P@ssw0rd12345',
    'qwertyuiop12',
    'iloveyou1234',
    '123456789012',
    'abcabcabcabc',
    ' '.repeat(12),
    'é'.repeat(200),
    'malipomalipo',
    'amina@duka.example',
    'AMINA@DUKA.EXAMPLE',
    'Duka la Amina',
    'dukalaamina1',
    'AminaOkello1',
  ]) {
    it(`is too easily guessed: ${password.slice(0, 20)}`, () => {
      assert.ok(isEasilyGuessed(password, NAMES));
    });
  }

  for (const password of [
    'correct horse battery staple',
    'another horse, another battery',
    'mwanamke mzuri sana',
    'kX9#pL2mQz7!',
    'Ⴆυɳσ ʂҽყɳƈԋιɳ',
  ]) {
    it(`is hard enough to guess: ${password}`, () => {
      assert.ok(!isEasilyGuessed(password, NAMES));
    });
  }

  it('may hold a name of the person among other words', () => {
    assert.ok(!isEasilyGuessed('amina sells nine green melons', NAMES));
  });
});
