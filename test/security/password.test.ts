// Passwords: their hash, and which passwords match it.
import assert from 'node:assert/strict';
import { hashPassword, verifyPassword } from '../../src/security/password.ts';

describe('a password', () => {
  it('is hashed by argon2id with a salt, 19 MiB, two passes and one lane', async () => {
    const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
    assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.notEqual(first, second);
  });

  it('matches its own hash only, and never a missing one', async () => {
    const hash = await hashPassword('correct horse battery');
    assert.ok(await verifyPassword(hash, 'correct horse battery'));
    assert.equal(await verifyPassword(hash, 'correct horse batterz'), false);
    assert.equal(await verifyPassword(hash, ''), false);
    assert.equal(await verifyPassword(null, 'correct horse battery'), false);
  });

  it('matches whichever way a keyboard composes its letters', async () => {
    const hash = await hashPassword('caf\u00e9 au lait, please');
    assert.ok(await verifyPassword(hash, 'cafe\u0301 au lait, please'));
  });
});
