// A table of what a list returned, page by page, that scrolls within itself on a narrow screen.
import { Button, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export type Column<Row> = {
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
      <Table aria-label={label} verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ title, isNumber }, index) => (
              <Table.Th key={index} ta={isNumber === true ? 'right' : 'left'} style={{ whiteSpace: 'nowrap' }}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.id} data-row={row.id} className={isChosen?.(row) === true ? 'is-chosen' : undefined}>
              {columns.map(({ isNumber, cell }, index) => (
                <Table.Td key={index} ta={isNumber === true ? 'right' : 'left'}>
                  {cell(row)}
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
