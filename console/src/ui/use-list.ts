// A list of the API, page after page, kept up to date while somebody looks at it.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useAskAgain } from './polling.ts';

type Page<Row> = { readonly data: readonly Row[]; readonly has_more: boolean; readonly next_cursor: string | null };

/** Where a page begins, for its query; empty: the first page. */
type Place = { readonly cursor?: string };
const FIRST: Place = {};

/** A list that was read deeper than this is not read anew by itself: each time would ask for every page. */
const MAX_PAGES_KEPT_CURRENT = 2;

/** `endOf`: when a row changes by the clock alone; null: never. */
export function useList<Row>(
  key: readonly unknown[],
  fetchPage: (place: Place) => Promise<Page<Row>>,
  endOf: (row: Row) => string | null = () => null,
) {
  const askAgain = useAskAgain();
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    refetchInterval: ({ state: { data } }) => {
      if (data && data.pages.length > MAX_PAGES_KEPT_CURRENT) return false;
      return askAgain((data?.pages ?? []).flatMap((page) => page.data.map(endOf)));
    },
    initialPageParam: FIRST,
    getNextPageParam: ({ has_more, next_cursor: cursor }: Page<Row>) =>
      has_more && cursor !== null ? { cursor } : undefined,
  });
  const rows = query.data?.pages.flatMap(({ data }) => data);
  return {
    query: { data: rows, error: query.error, isPending: query.isPending, refetch: query.refetch },
    more: {
      hasMore: query.hasNextPage,
      isBusy: query.isFetchingNextPage,
      onMore: () => void query.fetchNextPage(),
    },
  };
}
