// The fields of one object: a name and a value each.
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** `false` is left out. */
export type NamedValue = readonly [name: string, value: ReactNode] | false;
type FieldsProps = { readonly label: string; readonly fields: readonly NamedValue[] };

export function Fields({ label, fields }: FieldsProps) {
  return (
    <Table aria-label={label} variant="vertical" layout="fixed" withTableBorder>
      <Table.Tbody>
        {fields
          .filter((field) => field !== false)
          .map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={{ base: 120, sm: 200 }} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  );
}
