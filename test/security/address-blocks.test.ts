// Lists of addresses: one spelling for each block, and no address in a list by accident.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isInBlocks, parseBlock, readAddress } from '../../src/security/address-blocks.ts';

const SPELLINGS: Readonly<Record<string, string>> = {
  '203.0.113.7': '203.0.113.7/32',
  '203.0.113.7/32': '203.0.113.7/32',
  '203.0.113.0/24': '203.0.113.0/24',
  '0.0.0.0/0': '0.0.0.0/0',
  '::ffff:203.0.113.7': '203.0.113.7/32',
  '::FFFF:cb00:7107': '203.0.113.7/32',
  '::ffff:203.0.113.0/120': '203.0.113.0/24',
  '::ffff:0:0/96': '0.0.0.0/0',
  '2001:DB8:0:0:0::1': '2001:db8::1/128',
  '2001:db8:40::/48': '2001:db8:40::/48',
  '::/0': '::/0',
};

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'a name': ['shop.example', 'localhost', ''],
  'a short, octal or hexadecimal form': [
    '203.0.113',
    '203.7',
    '3405803783',
    '0313.0.113.7',
    '0xcb007107',
    '203.0.113.007',
  ],
  'a zone': ['fe80::1%eth0', 'fe80::%1/64'],
  'an IPv4-compatible address': [
    '::203.0.113.7',
    '::cb00:7107',
    '::2',
    '0::203.0.113.7/128',
    '0:0:0:0:0:0:203.0.113.7',
  ],
  'bits beyond the prefix': ['203.0.113.7/24', '10.0.0.1/8', '2001:db8::1/48', '::ffff:203.0.113.7/120', '0.0.0.1/0'],
  'a prefix that there is not': [
    '203.0.113.7/33',
    '2001:db8::/129',
    '203.0.113.0/024',
    '203.0.113.0/',
    '203.0.113.0/-1',
  ],
  'a mask, a range, a port or space around it': [
    '203.0.113.0/255.255.255.0',
    '203.0.113.0-203.0.113.9',
    '203.0.113.7:443',
    '[2001:db8::1]',
    ' 203.0.113.7',
    '203.0.113.7\n',
  ],
};

describe('a block of addresses', () => {
  it('has one spelling, however it is written', () => {
    for (const [written, spelling] of Object.entries(SPELLINGS)) {
      assert.equal(parseBlock(written), spelling, written);
      assert.equal(parseBlock(spelling), spelling);
    }
  });

  for (const [what, texts] of Object.entries(REFUSED)) {
    it(`is not written with ${what}`, () => {
      for (const text of texts) assert.equal(parseBlock(text), null, JSON.stringify(text));
    });
  }

  it('has its own address and the last of its block, and no address after that', () => {
    const blocks = fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 32 }));
    fc.assert(
      fc.property(blocks, ([address, length]) => {
        const [first, last] = boundsOf(address, length);
        const block = parseBlock(`${textOf(first)}/${length}`);
        assert.ok(block !== null);
        assert.ok(
          isInBlocks(address, [block]) && isInBlocks(textOf(first), [block]) && isInBlocks(textOf(last), [block]),
        );
        if (last < 0xffffffff) assert.equal(isInBlocks(textOf(last + 1), [block]), false);
        if (first > 0) assert.equal(isInBlocks(textOf(first - 1), [block]), false);
      }),
    );
  });
});

describe('an address', () => {
  it('is read in its full forms only, and as IPv4 if that is written as IPv6', () => {
    assert.equal(readAddress('::ffff:203.0.113.7')?.toString(), '203.0.113.7');
    assert.equal(readAddress('64:ff9b::203.0.113.7')?.toString(), '64:ff9b::cb00:7107');
    assert.equal(readAddress('::1')?.toString(), '::1');
    for (const text of ['::203.0.113.7', 'fe80::1%eth0', '203.7', 'unknown', '']) assert.equal(readAddress(text), null);
  });
});

describe('a list of addresses', () => {
  const list = ['203.0.113.7/32', '198.51.100.0/24', '2001:db8:40::/48'];

  it('has every address of its blocks, also IPv4 written as IPv6', () => {
    for (const address of ['203.0.113.7', '198.51.100.255', '::ffff:203.0.113.7', '2001:db8:40:ffff::1']) {
      assert.ok(isInBlocks(address, list), address);
    }
    for (const address of ['203.0.113.8', '198.51.101.0', '2001:db8:41::1', '::203.0.113.7', '::cb00:7107', '::1']) {
      assert.equal(isInBlocks(address, list), false, address);
    }
  });

  it('never has an unknown address, whatever its blocks', () => {
    assert.equal(isInBlocks(null, ['0.0.0.0/0', '::/0']), false);
  });

  it('has an address in its own family alone', () => {
    assert.equal(isInBlocks('203.0.113.7', ['::/0']), false);
    assert.equal(isInBlocks('2001:db8::1', ['0.0.0.0/0']), false);
  });
});

function boundsOf(address: string, length: number): [first: number, last: number] {
  const size = 2 ** (32 - length);
  const value = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const first = Math.floor(value / size) * size;
  return [first, first + size - 1];
}

function textOf(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
