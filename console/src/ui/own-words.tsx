// The own words of a merchant about a payment or checkout, separate from the service's data and marked as such.
import { Card, Code, Stack, Text } from '@mantine/core';
import { Fields } from './fields.tsx';
import { MerchantText } from './merchant-text.tsx';
import { Heading } from './page.tsx';
import { Rows, type Column } from './rows.tsx';

/** Of the columns of lists. */
export const REFERENCE_TITLE = 'Merchant’s reference';
export const DESCRIPTION_TITLE = 'Merchant’s description';

type OwnWordsProps = {
  readonly reference: string;
  /** Absent: there can be none. */
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  /** As the description. */
  readonly payeeName?: string | null;
};

export function OwnWords({ reference, description, metadata = {}, payeeName }: OwnWordsProps) {
  const pairs = Object.entries(metadata).map(([id, value]) => ({ id, value }));
  return (
    <Card withBorder component="section" aria-label="The merchant’s own words">
      <Stack gap="xs">
        <Heading>The merchant’s own words</Heading>
        <Text size="sm" c="dimmed">
          The maker wrote this. Malipo does not check it.
        </Text>
        <Fields
          label="Reference and description"
          fields={[
            ['Reference', <MerchantText key="reference" text={reference} />],
            description !== undefined && [
              'Description',
              description === null ? '–' : <MerchantText key="text" text={description} />,
            ],
            payeeName !== undefined && [
              'Name of the payee',
              payeeName === null ? '–' : <MerchantText key="payee" text={payeeName} />,
            ],
          ]}
        />
        {pairs.length > 0 && <Rows label="Metadata" columns={METADATA_COLUMNS} rows={pairs} empty="" />}
      </Stack>
    </Card>
  );
}

const METADATA_COLUMNS: readonly Column<{ readonly id: string; readonly value: string }>[] = [
  {
    title: 'Metadata key',
    cell: ({ id }) => (
      <Code>
        <MerchantText text={id} />
      </Code>
    ),
  },
  { title: 'Metadata value', cell: ({ value }) => <MerchantText text={value} /> },
];
