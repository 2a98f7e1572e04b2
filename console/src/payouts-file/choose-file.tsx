// The choice of the file, with its format and a template.
import { Button, FileButton, Group, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { exampleDigits } from '../../../src/domain/payments/typed-phone.ts';
import { describeAmounts } from '../payments/operator-amounts.ts';
import { useCountries, useOperators } from '../payments/operators.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { downloadCsv } from '../ui/download.ts';
import { COLUMNS, MAX_FILE_BYTES, MAX_ROWS } from './read-file.ts';

type ChooseFileProps = {
  readonly currency: string;
  readonly onFile: (file: { readonly name: string; readonly bytes: Uint8Array }) => void;
};

export function ChooseFile({ currency, onFile }: ChooseFileProps) {
  const example = exampleDigits(useCountries() ?? []);
  const operators = useOperators();
  const amounts = describeAmounts(operators, { kind: 'payouts', currency });
  const [error, setError] = useState<unknown>(null);
  const read = async (file: File) => {
    // One byte more shows that the file is too large, whatever its size.
    const bytes = new Uint8Array(await file.slice(0, MAX_FILE_BYTES + 1).arrayBuffer());
    onFile({ name: file.name, bytes });
  };
  return (
    <Stack maw={640}>
      <Text>
        A CSV file, as every spreadsheet writes it, with one payout a row and at most {MAX_ROWS.toLocaleString('en')}{' '}
        rows. Nothing is made before you have seen what is in it.
      </Text>
      <List>
        <List.Item>
          The first row names the columns: phone, amount, reference and, if you like, description, payee_name and
          operator.
        </List.Item>
        <List.Item>
          A phone is best written with its country code, such as {example}. Where a number was moved to another
          operator, that operator is named{operators.length > 0 && `: ${operators.map(({ id }) => id).join(', ')}`}.
        </List.Item>
        <List.Item>
          An amount is in {currency}, best in digits alone: 12500. {amounts}
        </List.Item>
        <List.Item>Each row has a reference of its own, by which you find it again.</List.Item>
        <List.Item>
          A row that was made is not made again, whichever file has it: you can correct a file and load it again.
        </List.Item>
      </List>
      <Group>
        <FileButton
          accept=".csv,text/csv"
          inputProps={{ 'aria-label': 'File of payouts' }}
          onChange={(file) => {
            if (file !== null) read(file).catch(setError);
          }}
        >
          {(props) => <Button {...props}>Choose a file…</Button>}
        </FileButton>
        <Button
          variant="default"
          onClick={() => downloadCsv('payouts-template.csv', [COLUMNS, ...examplesWith(example)])}
        >
          Download a template
        </Button>
      </Group>
      <ErrorNotice error={error} />
    </Stack>
  );
}

/** Two rows, whose payees have different numbers. */
function examplesWith(phone: string): readonly (readonly string[])[] {
  return [
    [phone, '12500', 'SAL-11-001', 'Salary of November', ''],
    [`${phone.slice(0, -1)}0`, '9000', 'SAL-11-002', '', ''],
  ];
}
