// A table of what a list returned, page by page. Where it has little room each row is a card, so that nothing of it is out of sight.
import { Button, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export type Column<Row> = {
  /** Of a card it names the value, where it is words. */
  readonly title: ReactNode;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ReactNode;
};

type RowsProps<Row> = {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Shown in place of a table without rows: what would be here, and how it comes to be. */
  readonly empty: ReactNode;
  readonly isChosen?: (row: Row) => boolean;
};

export function Rows<Row extends { readonly id: string }>({ label, columns, rows, empty, isChosen }: RowsProps<Row>) {
  if (rows.length === 0) return <Text c="dimmed">{empty}</Text>;
  return (
    <div className="table-scroll" role="region" aria-label={label} tabIndex={0}>
      {/* The roles say again what the elements mean: as cards they are no table to every browser. */}
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
