// Sealed secrets: they open only unaltered, with a key of the ring, and for the row that they were sealed for.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { open, seal, type KeyRing } from '../../src/security/sealing.ts';

const OLD = { name: 'old', key: createSecretKey(randomBytes(32)) };
const NEW = { name: 'new', key: createSecretKey(randomBytes(32)) };
const OLD_RING: KeyRing = [OLD];
const ROTATED: KeyRing = [NEW, OLD];
const SECRET = 'whsec_abc';

describe('a sealed secret', () => {
  it('opens to the secret that was sealed, for every secret and context', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (secret, context) => {
        const sealed = seal(secret, context, OLD_RING);
        assert.equal(open(sealed, context, OLD_RING), secret);
        assert.ok(secret.length < 4 || !sealed.includes(secret));
      }),
    );
  });

  it('is a different text each time', () => {
    assert.notEqual(seal(SECRET, 'whe_1', OLD_RING), seal(SECRET, 'whe_1', OLD_RING));
  });

  it('still opens after a new key is put first, which seals new secrets from then on', () => {
    const before = seal(SECRET, 'whe_1', OLD_RING);
    assert.equal(open(before, 'whe_1', ROTATED), SECRET);
    const after = seal(SECRET, 'whe_1', ROTATED);
    assert.ok(after.startsWith('new.'));
    assert.equal(open(after, 'whe_1', [NEW]), SECRET);
  });

  it('does not open without its key, nor with another key of the same name', () => {
    const sealed = seal(SECRET, 'whe_1', OLD_RING);
    assert.throws(() => open(sealed, 'whe_1', [NEW]), /no key named "old"/);
    const impostor = { name: 'old', key: createSecretKey(randomBytes(32)) };
    assert.throws(() => open(sealed, 'whe_1', [impostor]));
  });

  it('does not open for another row', () => {
    const sealed = seal(SECRET, 'whe_1', OLD_RING);
    assert.throws(() => open(sealed, 'whe_2', OLD_RING));
  });

  it('does not open when any one bit is flipped', () => {
    const [name = '', text = ''] = seal(SECRET, 'whe_1', OLD_RING).split('.');
    const bytes = Buffer.from(text, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      assert.throws(() => open(`${name}.${altered.toString('base64url')}`, 'whe_1', OLD_RING), `bit ${bit}`);
    }
  });

  it('does not open when it is truncated', () => {
    const sealed = seal(SECRET, 'whe_1', OLD_RING);
    for (let length = 0; length < sealed.length; length++) {
      assert.throws(() => open(sealed.slice(0, length), 'whe_1', OLD_RING), `${length} characters`);
    }
  });
});

describe('a key ring', () => {
  it('shows no key when it is printed', () => {
    const key = randomBytes(32);
    const ring: KeyRing = [{ name: 'a', key: createSecretKey(key) }];
    for (const printed of [inspect(ring, { depth: null, showHidden: true }), JSON.stringify(ring)]) {
      assert.ok(!printed.includes(key.toString('hex').slice(0, 8)));
      assert.ok(!printed.includes(key.toString('base64').slice(0, 8)));
      assert.ok(!printed.includes([...key].slice(0, 4).join(',')));
    }
  });
});
