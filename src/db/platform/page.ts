// Reads lists in pages: one row more than a page holds shows whether another page follows.

/**
 * One page of a list, newest first. The next page begins before the id `nextBefore`; null: this page is the last one.
 */
export type Page<Item extends { readonly id: string }> = {
  readonly items: readonly Item[];
  readonly nextBefore: Item['id'] | null;
};

/** The part of a list that a page is read from: by creation, and where the page before ended. */
export type ListRange<Key> = {
  /** Inclusive. */
  readonly createdFrom?: Date;
  /** Exclusive. */
  readonly createdTo?: Date;
  /** Only items that are older than this one. */
  readonly before?: Key;
};

/**
 * The page of at most `limit` items that `read` finds; `read` returns the newest items, as many as its argument says.
 * The following pages do not change while new items arrive, because each begins before an id.
 */
export async function readPage<Item extends { readonly id: string }>(
  limit: number,
  read: (count: number) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  const rows = await read(limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}
