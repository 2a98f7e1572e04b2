// The text of API keys: their form, and the checksum that distinguishes a mistyped key from an unknown one.
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { apiKeyHint, generateApiKey, hashApiKey, parseApiKey } from '../../src/security/api-key.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('an API key', () => {
  for (const environment of ['test', 'live'] as const) {
    it(`names the ${environment} environment in its prefix`, () => {
      const key = generateApiKey(environment);
      assert.match(key, new RegExp(`^sk_${environment}_[0-9A-Za-z]{36}$`));
      assert.deepEqual(parseApiKey(key), { kind: 'key', environment });
    });
  }

  it('ends with the CRC-32 of the preceding text, in six base62 digits', () => {
    const key = generateApiKey('test');
    const written = Array.from(key.slice(-6)).reduce((sum, digit) => sum * 62 + BASE62.indexOf(digit), 0);
    assert.equal(written, crc32(key.slice(0, -6)));
  });

  it('is different each time', () => {
    assert.equal(new Set(Array.from({ length: 1000 }, () => generateApiKey('test'))).size, 1000);
  });

  it('is malformed when any one character is replaced', () => {
    const key = generateApiKey('live');
    const position = fc.integer({ min: 0, max: key.length - 1 });
    fc.assert(
      fc.property(position, fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(key[at] !== character);
        const altered = key.slice(0, at) + character + key.slice(at + 1);
        assert.deepEqual(parseApiKey(altered), { kind: 'malformed' });
      }),
      { numRuns: 2000 },
    );
  });

  it('is malformed when two adjacent characters are swapped', () => {
    const key = generateApiKey('test');
    for (let at = 8; at < key.length - 1; at++) {
      if (key[at] === key[at + 1]) continue;
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
      assert.deepEqual(parseApiKey(swapped), { kind: 'malformed' }, swapped);
    }
  });

  it('is malformed when it is cut, padded or given the prefix of the other environment', () => {
    const key = generateApiKey('test');
    for (const text of [
      key.slice(0, -1),
      `${key}0`,
      ` ${key}`,
      `${key}\n`,
      key.replace('test', 'live'),
      '',
      'sk_test_',
    ]) {
      assert.deepEqual(parseApiKey(text), { kind: 'malformed' }, JSON.stringify(text));
    }
  });

  it('is stored as its SHA-256 and shown by its last four characters', () => {
    assert.equal(hashApiKey('abc').toString('hex'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    assert.equal(apiKeyHint('sk_test_0123'), '0123');
  });
});
