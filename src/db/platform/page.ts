// Reads lists in pages: one row more than a page holds shows whether another page follows.
import { lowestIdAt, type MerchantId } from '../../domain/ids.ts';
import type { Queryable, Statement } from './database.ts';

/**
 * One page of a list, newest first. The next page begins before the id `nextBefore`; null: this page is the last one.
 */
export type Page<Item extends { readonly id: string }> = {
  readonly items: readonly Item[];
  readonly nextBefore: Item['id'] | null;
};

/** The part of a list from which a page is read: by creation, and by the end of the previous page. */
export type ListRange<Key> = {
  /** Inclusive. */
  readonly createdFrom?: Date;
  /** Exclusive. */
  readonly createdTo?: Date;
  /** Only items that are older than this one. */
  readonly before?: Key;
};

/** Every item of a list of any length: `read` lists at most `limit` items after the given one (null: the first). */
export async function* eachItem<Item>(
  limit: number,
  read: (last: Item | null) => Promise<readonly Item[]>,
): AsyncGenerator<Item, void, undefined> {
  for (let last: Item | null = null; ;) {
    const page: readonly Item[] = await read(last);
    yield* page;
    last = page.at(-1) ?? null;
    if (page.length < limit) return;
  }
}

/**
 * The page of at most `limit` items; `read` returns the newest items, as many as its argument says.
 * Later pages do not change while new items arrive, because each begins before an id.
 */
export async function readPage<Item extends { readonly id: string }>(
  limit: number,
  read: (count: number) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  const rows = await read(limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/**
 * A function that reads a page of a merchant's newest items older than `before` (null: of all). The parameters of the
 * statement are the merchant, `before`, and how many rows to read.
 */
export function newestPages<Item extends { readonly id: string }>(query: Statement) {
  return (db: Queryable, merchantId: MerchantId, before: Item['id'] | null, limit: number): Promise<Page<Item>> =>
    readPage(limit, (count) => db.run<Item>(query, [merchantId, before, count]));
}

/** A condition, with `?` in place of the compared value. It applies unless the value is undefined. */
export type Condition = readonly [condition: string, value: unknown];

/** The applicable conditions, each after an AND; their values are the parameters of the statement from `$first` on. */
export function conditionsOf(first: number, all: readonly Condition[]): { conditions: string; values: unknown[] } {
  const given = all.filter(([, value]) => value !== undefined);
  const parts = given.map(([condition], index) => ` AND ${condition.replaceAll('?', `$${first + index}`)}`);
  return { conditions: parts.join(''), values: given.map(([, value]) => value) };
}

type IdPrefix = Parameters<typeof lowestIdAt>[0];

/** The range as conditions on the id, which begins with the creation time: a page is one index range at any depth. */
export function idConditions(
  column: string,
  prefix: IdPrefix,
  { createdFrom, createdTo, before }: ListRange<string>,
): Condition[] {
  return [
    [`${column} >= ?`, createdFrom && lowestIdAt(prefix, createdFrom.getTime())],
    [`${column} < ?`, createdTo && lowestIdAt(prefix, createdTo.getTime())],
    [`${column} < ?`, before],
  ];
}

/** The range with both ends always present: an inclusive start, and two exclusive ends. */
export function idBounds(prefix: IdPrefix, { createdFrom, createdTo, before }: ListRange<string>): string[] {
  return [
    createdFrom ? lowestIdAt(prefix, createdFrom.getTime()) : `${prefix}_`,
    createdTo ? lowestIdAt(prefix, createdTo.getTime()) : `${prefix}_~`,
    before ?? `${prefix}_~`,
  ];
}
