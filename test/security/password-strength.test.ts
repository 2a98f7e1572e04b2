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
    'Amina.Okello',
    'Amina@12345!',
    'Okello1990!!',
    'Duka2026!!!!',
    'Malipo2026!!',
    'MTNMoMo2026!',
    'Duka@2026#01',
    '#8842%%19-amina-#2291%',
    '4m1n4.0k3llo.%99',
    'M@l1p0#73!92&61',
    'Kampala@2026',
    'Ámina-Ökello-1990',
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
    for (const password of ['amina sells nine green melons', 'tumbili saba na duka 1990', 'kX9#amina-pLmQzTrbnW'])
      assert.ok(!isEasilyGuessed(password, NAMES), password);
  });

  it('is as strong as without a name if the name contains no word', () => {
    for (const names of [[], ['']]) {
      assert.ok(!isEasilyGuessed('correct horse battery staple', names));
      assert.ok(isEasilyGuessed('MTNMoMo2026!', names));
    }
  });
});
