// Opaque tokens: their size, their digest and their form.
import assert from 'node:assert/strict';
import { hashToken, newToken } from '../../src/security/token.ts';

describe('a token', () => {
  it('has 256 bits and is recognised by its digest', () => {
    const { token, sha256 } = newToken();
    assert.equal(Buffer.from(token, 'base64url').length, 32);
    assert.deepEqual(hashToken(token), sha256);
    assert.notEqual(newToken().token, token);
  });

  it('has no digest if the text does not have the form of a token', () => {
    for (const text of ['', 'abc', 'x'.repeat(44), `${'x'.repeat(42)}!`, `${'x'.repeat(42)}\0`]) {
      assert.equal(hashToken(text), null);
    }
  });
});
