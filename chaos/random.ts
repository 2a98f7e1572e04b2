// Random numbers from a seed: the same seed gives the same campaign.
import { createHash } from 'node:crypto';

export type Random = {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** An integer from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  shuffled<Item>(items: readonly Item[]): Item[];
};

/** One stream of numbers per purpose: a change of the faults does not change the payments of the same seed. */
export function randomOf(seed: string, purpose: string): Random {
  let state = createHash('sha256').update(`${purpose}/${seed}`).digest().readUInt32LE(0);

  // mulberry32: small, and even enough for a schedule.
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  function integer(low: number, high: number): number {
    return low + Math.floor(next() * (high - low + 1));
  }

  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: <Item>(items: readonly [Item, ...Item[]]) => items[integer(0, items.length - 1)] ?? items[0],
    shuffled<Item>(items: readonly Item[]): Item[] {
      return items
        .map((item) => ({ item, order: next() }))
        .sort((a, b) => a.order - b.order)
        .map(({ item }) => item);
    },
  };
}
