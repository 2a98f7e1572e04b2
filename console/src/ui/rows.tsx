// Tables of the rows of an API list, page by page.
import { Button, Stack, Table, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useAskAgain } from './polling.ts';
import { Loaded } from './page.tsx';

export type Column<Row> = {
  /** On a card it names the value, if it is text. */
  readonly title: ReactNode;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ReactNode;
};

type RowsProps<Row> = {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Shown instead of a table without rows: what the list contains, and how it is filled. */
  readonly empty: ReactNode;
  readonly isChosen?: (row: Row) => boolean;
};

/** If the table has little room each row is a card, so that all of it stays visible. */
export function Rows<Row extends { readonly id: string }>({ label, columns, rows, empty, isChosen }: RowsProps<Row>) {
  if (rows.length === 0) return <Text c="dimmed">{empty}</Text>;
  return (
    <div className="table-scroll" role="region" aria-label={label} tabIndex={0}>
      {/* The roles repeat the meaning of the elements: some browsers do not treat cards as a table. */}
      <Table className="rows" role="table" aria-label={label} verticalSpacing="xs" highlightOnHover>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map(({ title, isNumber }, index) => (
              <Table.Th key={index} role="columnheader" ta={isNumber === true ? 'right' : 'left'}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Table.Tr
              key={row.id}
              role="row"
              data-row={row.id}
              className={isChosen?.(row) === true ? 'is-chosen' : undefined}
            >
              {columns.map(({ title, isNumber, cell }, index) => (
                <Table.Td
                  key={index}
                  role="cell"
                  data-title={typeof title === 'string' && title !== '' ? title : undefined}
                  ta={isNumber === true ? 'right' : 'left'}
                >
                  <div>{cell(row)}</div>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

type MoreProps = { readonly hasMore: boolean; readonly isBusy: boolean; readonly onMore: () => void };

export function More({ hasMore, isBusy, onMore }: MoreProps) {
  if (!hasMore) return null;
  return (
    <Button variant="default" loading={isBusy} onClick={onMore} w="fit-content">
      Show more
    </Button>
  );
}

type Page<Row> = { readonly data: readonly Row[]; readonly has_more: boolean; readonly next_cursor: string | null };

/** The beginning of a page, for its query; empty: the first page. */
type Place = { readonly cursor?: string };
const FIRST: Place = {};

/** A list with more loaded pages is not refreshed automatically: each refresh would request every page. */
const MAX_PAGES_KEPT_CURRENT = 2;

/** A list of the API, kept up to date while it is shown. `endOf`: when a row changes by time alone; null: never. */
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

type ListedProps<Row> = Omit<RowsProps<Row>, 'rows' | 'isChosen'> & {
  readonly list: ReturnType<typeof useList<Row>>;
};

/** Such a list as a table, with a button that loads more. */
export function Listed<Row extends { readonly id: string }>({ list: { query, more }, ...props }: ListedProps<Row>) {
  return (
    <Loaded query={query}>
      {(rows) => (
        <>
          <Rows {...props} rows={rows} />
          <More {...more} />
        </>
      )}
    </Loaded>
  );
}

const AT_FIRST = 25;
const MORE_EACH_TIME = 200;

/** A table of already loaded rows, which first shows some and on demand the others. */
export function LongRows<Row extends { readonly id: string }>({ rows, ...props }: Omit<RowsProps<Row>, 'isChosen'>) {
  const [shown, setShown] = useState(AT_FIRST);
  return (
    <Stack gap="xs">
      <Rows {...props} rows={rows.slice(0, shown)} />
      <More hasMore={rows.length > shown} isBusy={false} onMore={() => setShown(shown + MORE_EACH_TIME)} />
    </Stack>
  );
}
