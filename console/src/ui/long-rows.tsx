// A table of rows that the page has already, of which it shows the first and, when asked, the others.
import { Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { More, Rows, type Column } from './rows.tsx';

const AT_FIRST = 25;
const MORE_EACH_TIME = 200;

type LongRowsProps<Row> = {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly empty: ReactNode;
};

export function LongRows<Row extends { readonly id: string }>({ rows, ...props }: LongRowsProps<Row>) {
  const [shown, setShown] = useState(AT_FIRST);
  return (
    <Stack gap="xs">
      <Rows {...props} rows={rows.slice(0, shown)} />
      <More hasMore={rows.length > shown} isBusy={false} onMore={() => setShown(shown + MORE_EACH_TIME)} />
    </Stack>
  );
}
