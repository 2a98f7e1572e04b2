// Reads the service's lists page by page, and prints them.
import { z } from 'zod';
import type { ApiResponse, Api, Call } from './api.ts';
import { printResult, readCount, readMoment, table, type Command, type CommandLine, type Context } from './command.ts';
import { CliFailure } from './failure.ts';
import { parseResponse } from './responses.ts';
import { signIn } from './sign-in.ts';

const PAGE_SIZE = 100;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 10_000;
/** A limit: a longer list is a mistake in the query. */
const MAX_PAGES = 1000;

type ListOptions<Item> = {
  readonly path: string;
  readonly query: NonNullable<Call['query']>;
  readonly item: z.ZodType<Item>;
  /** The most items to read; null: all of them. */
  readonly limit: number | null;
  readonly onFirstPage?: (response: ApiResponse) => void;
};

export type Listed<Item> = { readonly data: Item[]; readonly hasMore: boolean };

export async function readList<Item>(api: Api, options: ListOptions<Item>): Promise<Listed<Item>> {
  const { path, query, item, limit, onFirstPage } = options;
  const schema = z.object({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() });
  const data: Item[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const pageSize = limit === null ? PAGE_SIZE : Math.min(PAGE_SIZE, limit - data.length);
    const response: ApiResponse = await api.call('GET', path, { query: { ...query, limit: pageSize, cursor } });
    if (page === 0) onFirstPage?.(response);
    const listed = parseResponse(schema, response);
    data.push(...listed.data);
    cursor = listed.next_cursor;
    if (!listed.has_more || cursor === null) return { data, hasMore: false };
    if (limit !== null && data.length >= limit) return { data, hasMore: true };
  }
  throw new CliFailure('failed', `there are more than ${MAX_PAGES * PAGE_SIZE} in this list. Ask for a shorter time.`);
}

export function readRange(line: CommandLine) {
  return {
    created_from: readMoment(line, 'since')?.toISOString(),
    created_to: readMoment(line, 'until')?.toISOString(),
    limit: readCount(line, 'limit', MAX_LIMIT) ?? DEFAULT_LIMIT,
  };
}

/** Prints a list as JSON or, for a person, as a table with these columns. */
export function printList<Item>(
  { data, hasMore }: Listed<Item>,
  line: CommandLine,
  context: Context,
  columns: Readonly<Record<string, (item: Item) => string>>,
): void {
  const rows = data.map((item) => Object.values(columns).map((cell) => cell(item)));
  printResult(line, context, { data, has_more: hasMore }, table(Object.keys(columns), rows).join('\n'));
}

/** Shows one object of the service: as JSON or, for a person, as this text. */
export async function showOne<Schema extends z.ZodType>(
  path: string,
  line: CommandLine,
  context: Context,
  { schema, textOf }: { readonly schema: Schema; readonly textOf: (object: z.infer<Schema>) => string },
): Promise<void> {
  const { api } = await signIn(line, context);
  const object = parseResponse(schema, await api.call('GET', path));
  printResult(line, context, object, textOf(object));
}

/** What a command does that shows the object whose id it is given, and lists objects without an id. */
export function listOrOne<Schema extends z.ZodType>(
  path: string,
  list: Command['run'],
  shown: { readonly schema: Schema; readonly textOf: (object: z.infer<Schema>) => string },
): Pick<Command, 'positionals' | 'run'> {
  return {
    positionals: [0, 1],
    async run(line, context) {
      const [id] = line.positionals;
      if (id === undefined) await list(line, context);
      else await showOne(`${path}/${encodeURIComponent(id)}`, line, context, shown);
    },
  };
}
