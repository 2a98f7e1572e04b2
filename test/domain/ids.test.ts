// Ids: their form, their order, and the time that they contain.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { idTimeMs, isId, lowestIdAt, newId } from '../../src/domain/ids.ts';

const LAST_MS = 2 ** 48 - 1;

describe('an id', () => {
  it('consists of a prefix, an underscore and 26 characters that cannot be mistaken for each other', () => {
    for (const prefix of ['col', 'evt', 'dlv', 'whe', 'key', 'mer', 'usr', 'inv', 'pay', 'rev', 'req'] as const) {
      assert.match(newId(prefix), new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
    }
  });

  it('contains a UUID of version 7 and variant 10', () => {
    const bits = Array.from(newId('col').slice(4), (digit) =>
      '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit).toString(2).padStart(5, '0'),
    )
      .join('')
      .slice(2);
    assert.equal(bits.length, 128);
    assert.equal(bits.slice(48, 52), '0111');
    assert.equal(bits.slice(64, 66), '10');
  });

  it('sorts as text in the order of creation, also among many of one millisecond', () => {
    const atMs = Date.now();
    const ids = Array.from({ length: 20_000 }, () => newId('col', atMs));
    assert.deepEqual([...ids].sort(), ids);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('keeps rising when the clock is set back by less than a second', () => {
    const atMs = Date.now();
    const before = newId('col', atMs);
    for (const stepMs of [1, 500, 1000]) {
      const after = newId('col', atMs - stepMs);
      assert.ok(after > before);
      assert.ok(idTimeMs(after) >= idTimeMs(before));
    }
  });

  it('follows a clock that is set back further, so that one moment ahead does not date later ids', () => {
    const atMs = Date.now();
    for (const aheadMs of [1001, 3_600_000, 365 * 86_400_000]) {
      newId('col', atMs + aheadMs);
      const ids = Array.from({ length: 5000 }, () => newId('col', atMs));
      assert.ok(idTimeMs(ids[0]!) === atMs, `${idTimeMs(ids[0]!) - atMs} ms ahead`);
      assert.deepEqual([...ids].sort(), ids);
    }
  });

  it('is never more than a second ahead of the clock, however the clock moves', () => {
    const steps = fc.array(fc.integer({ min: -7_200_000, max: 7_200_000 }), { maxLength: 50 });
    fc.assert(
      fc.property(steps, (movesMs) => {
        let atMs = Date.now();
        for (const moveMs of movesMs) {
          atMs += moveMs;
          const aheadMs = idTimeMs(newId('pay', atMs)) - atMs;
          assert.ok(aheadMs >= 0 && aheadMs <= 1000, `${aheadMs} ms ahead`);
        }
      }),
    );
  });

  it('cannot be guessed from its neighbour, because 62 bits are random', () => {
    const tails = Array.from({ length: 1000 }, () => newId('col').slice(-12));
    assert.equal(new Set(tails).size, tails.length);
  });

  it('contains the time of its creation', () => {
    const atMs = Date.now() + 1;
    const id = newId('evt', atMs);
    // Other ids of this millisecond may have pushed the counter on.
    assert.ok(idTimeMs(id) >= atMs && idTimeMs(id) <= atMs + 10, `${idTimeMs(id)} at ${atMs}`);
  });
});

describe('the form of an id', () => {
  const id = newId('col');
  const wrong: [string, string][] = [
    ['an id with another prefix', id.replace('col_', 'evt_')],
    ['an id without a prefix', id.slice(4)],
    ['capital letters', id.toUpperCase()],
    ['a letter that is not in the alphabet', `${id.slice(0, -1)}u`],
    ['one character too few', id.slice(0, -1)],
    ['one character too many', `${id}0`],
    ['more than 128 bits', `col_8${id.slice(5)}`],
    ['a line break at the end', `${id}\n`],
    ['leading white space', ` ${id}`],
    ['the empty text', ''],
  ];
  for (const [what, text] of wrong) {
    it(`excludes ${what}`, () => {
      assert.equal(isId('col', text), false);
    });
  }

  it('includes every id', () => {
    assert.ok(isId('col', id));
  });
});

describe('the lowest id at a moment', () => {
  it('is above every id of the millisecond before and not above any id of that moment', () => {
    const atMs = Date.now() + 5;
    const before = newId('col', atMs - 1);
    const own = newId('col', atMs);
    assert.ok(before < lowestIdAt('col', atMs) || idTimeMs(before) >= atMs);
    assert.ok(lowestIdAt('col', atMs) <= own);
  });

  it('rises with time, and is an id that contains that time', () => {
    const moment = fc.integer({ min: 0, max: LAST_MS });
    fc.assert(
      fc.property(moment, moment, (a, b) => {
        const [low, high] = [lowestIdAt('col', Math.min(a, b)), lowestIdAt('col', Math.max(a, b))];
        assert.ok(a === b ? low === high : low < high);
        assert.ok(isId('col', low));
        assert.equal(idTimeMs(low), Math.min(a, b));
      }),
    );
  });

  it('stays within the range of times that an id can contain', () => {
    assert.equal(lowestIdAt('col', -1), lowestIdAt('col', 0));
    assert.equal(lowestIdAt('col', Number.MAX_SAFE_INTEGER), lowestIdAt('col', LAST_MS));
    assert.equal(lowestIdAt('col', 1.9), lowestIdAt('col', 1));
  });
});
