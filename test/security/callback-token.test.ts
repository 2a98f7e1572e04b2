// What proves that an address for callbacks is ours: made by a key of the ring, for this operator and this reference alone.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { callbackToken, messagePath, provenReference } from '../../src/security/callback-token.ts';
import type { KeyRing } from '../../src/security/sealing.ts';

const keyNamed = (name: string) => ({ name, key: createSecretKey(randomBytes(32)) });
const [first, second] = [keyNamed('first'), keyNamed('second')];
const ring: KeyRing = [first, second];
const OPERATOR = 'mtn-momo';

describe('the token in an address for callbacks', () => {
  it('is 64 hexadecimal digits in small letters, and gives the reference back', () => {
    fc.assert(
      fc.property(fc.uuid(), (reference) => {
        const token = callbackToken(OPERATOR, reference, ring);
        assert.match(token, /^[0-9a-f]{64}$/);
        assert.equal(provenReference(OPERATOR, token, ring), reference);
      }),
    );
  });

  it('is believed as long as the key that made it is in the ring', () => {
    const reference = randomUUID();
    const token = callbackToken(OPERATOR, reference, [second]);
    assert.equal(provenReference(OPERATOR, token, ring), reference);
    assert.equal(provenReference(OPERATOR, token, [first]), null);
  });

  it('proves nothing when any digit of it is another', () => {
    const token = callbackToken(OPERATOR, randomUUID(), ring);
    for (let at = 0; at < token.length; at++) {
      const digit = token[at] === '0' ? '1' : '0';
      assert.equal(provenReference(OPERATOR, token.slice(0, at) + digit + token.slice(at + 1), ring), null);
    }
  });

  it('proves nothing for another purpose, and its path has none of the words that operators refuse', () => {
    const purposes = ['result', 'timeout', 'query'] as const;
    const id = randomUUID();
    for (const purpose of purposes) {
      const path = messagePath('daraja', purpose, id, ring);
      assert.match(path, /^\/operators\/daraja\/[a-z]+\/[0-9a-f]{64}$/);
      assert.doesNotMatch(path, /m-?pesa|safaricom|exe|cmd|sql|query/i);
      const token = path.slice(-64);
      const proven = [...purposes, null].map((each) => provenReference('daraja', token, ring, each));
      assert.deepEqual(
        proven,
        [...purposes, null].map((each) => (each === purpose ? id : null)),
      );
    }
  });

  it('is refused in any other form, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.equal(provenReference(OPERATOR, text, ring), null);
      }),
    );
  });
});
