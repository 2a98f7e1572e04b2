// The fields of one thing: a name and a value each.
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

export function Fields({
  label,
  fields,
}: {
  readonly label: string;
  readonly fields: readonly (readonly [string, ReactNode])[];
}) {
  return (
    <Table aria-label={label} variant="vertical" layout="fixed" withTableBorder>
      <Table.Tbody>
        {fields.map(([name, value]) => (
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
