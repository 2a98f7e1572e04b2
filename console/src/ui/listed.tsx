// A list of the API as a table, with what loads more of it.
import type { ReactNode } from 'react';
import { Loaded } from './loaded.tsx';
import { More, Rows, type Column } from './rows.tsx';
import type { useList } from './use-list.ts';

type ListedProps<Row> = {
  readonly list: ReturnType<typeof useList<Row>>;
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly empty: ReactNode;
};

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
