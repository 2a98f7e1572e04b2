// Lists of the service, read page by page.
import { z } from 'zod';
import { read } from './answers.ts';
import type { Answer, Api, Call } from './api.ts';
import { CliFailure } from './failure.ts';

const PAGE_SIZE = 100;
/** More than this in one list is a mistake in the question. */
const MOST_PAGES = 1000;

type ListOptions<Item> = {
  readonly path: string;
  readonly query: NonNullable<Call['query']>;
  readonly item: z.ZodType<Item>;
  /** How many at most; null: all there are. */
  readonly limit: number | null;
  readonly onFirstPage?: (answer: Answer) => void;
};

export type Listed<Item> = { readonly data: Item[]; readonly hasMore: boolean };

/** Newest first. */
export async function readList<Item>(api: Api, options: ListOptions<Item>): Promise<Listed<Item>> {
  const { path, query, item, limit, onFirstPage } = options;
  const schema = z.object({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() });
  const data: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const wanted = limit === null ? PAGE_SIZE : Math.min(PAGE_SIZE, limit - data.length);
    const answer: Answer = await api.call('GET', path, { query: { ...query, limit: wanted, cursor } });
    if (page === 0) onFirstPage?.(answer);
    const listed = read(schema, answer);
    data.push(...listed.data);
    cursor = listed.next_cursor;
    if (!listed.has_more || cursor === null) return { data, hasMore: false };
    if (limit !== null && data.length >= limit) return { data, hasMore: true };
  }
  throw new CliFailure('failed', `there are more than ${MOST_PAGES * PAGE_SIZE} in this list. Ask for a shorter time.`);
}
