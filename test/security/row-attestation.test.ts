// Attestations of rows: each is valid for its values, in its own table and environment, and for nothing else.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { createRowAttestor, type AttestedValue } from '../../src/security/row-attestation.ts';

const KEY = createSecretKey(randomBytes(32));
const attestorOf = (environment: 'test' | 'live', key = KEY) =>
  createRowAttestor({ environment, keyRing: [{ name: 'test', key }], report: () => undefined });

const AT = new Date('2026-01-02T03:04:05Z');
const ROW: readonly AttestedValue[] = ['mer_1', ['owner'], AT, 5n, null, Buffer.from('digest'), true];

describe('the attestation of a row', () => {
  const attestor = attestorOf('test');
  const attestation = attestor.attest('members', ROW, null);
  const isValid = (values: readonly AttestedValue[], by = attestor, table = 'members') =>
    by.isAttested(table, values, attestation);

  it('is valid for exactly the attested row', () => {
    assert.ok(isValid([...ROW]));
  });

  it('is valid for no other value in any column', () => {
    const others: readonly AttestedValue[] = ['mer_2', ['owner', 'maker'], new Date(0), 6n, 0, Buffer.from('x'), false];
    others.forEach((other, index) => {
      assert.ok(!isValid(ROW.map((value, at) => (at === index ? other : value))), `column ${index}`);
    });
    assert.ok(!isValid(ROW.slice(0, -1)));
    assert.ok(!isValid([...ROW, null]));
  });

  it('is valid in no other table or environment, with no other key, and never missing', () => {
    assert.ok(!isValid(ROW, attestor, 'users'));
    assert.ok(!isValid(ROW, attestorOf('live')));
    assert.ok(!isValid(ROW, attestorOf('test', createSecretKey(randomBytes(32)))));
    assert.ok(!attestor.isAttested('members', ROW, null));
  });

  it('is valid with its own number alone, which follows the one before', () => {
    const next = attestor.attest('members', ROW, attestation);
    const [number, mac] = next.split('.') as [string, string];
    assert.equal(number, '2');
    assert.ok(attestor.isAttested('members', ROW, next));
    for (const other of ['1', '3', '02', '-2', '']) {
      assert.ok(!attestor.isAttested('members', ROW, `${other}.${mac}`), other);
    }
    assert.ok(!attestor.isAttested('members', ROW, mac));
  });

  it('tells a time without an end, and one beyond all times, from none', () => {
    const withoutEnd = attestor.attest('sessions', [null], null);
    for (const value of [Infinity, -Infinity, new Date(NaN)]) {
      assert.ok(!attestor.isAttested('sessions', [value], withoutEnd), String(value));
    }
  });
});

describe('the digest of a secret with a key', () => {
  const digestOf = (by: ReturnType<typeof attestorOf>, purpose: string, userId: string, secret: string) =>
    by.digestsOfSecret(purpose, userId, secret)[0].toString('hex');

  it('is another one for another secret, person, purpose, environment or key', () => {
    const own = attestorOf('test');
    const digests = [
      digestOf(own, 'recovery code', 'usr_1', '0123'),
      digestOf(own, 'recovery code', 'usr_1', '4567'),
      digestOf(own, 'recovery code', 'usr_2', '0123'),
      digestOf(own, 'another purpose', 'usr_1', '0123'),
      digestOf(attestorOf('live'), 'recovery code', 'usr_1', '0123'),
      digestOf(attestorOf('test', createSecretKey(randomBytes(32))), 'recovery code', 'usr_1', '0123'),
    ];
    assert.equal(new Set(digests).size, digests.length);
    assert.equal(digestOf(own, 'recovery code', 'usr_1', '0123'), digests[0]);
  });
});
