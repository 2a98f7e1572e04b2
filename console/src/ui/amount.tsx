// An amount with its currency, never rounded.
import { Text } from '@mantine/core';
import { formatAmount } from './format.ts';

export function Amount({ amount, currency }: { readonly amount: number; readonly currency: string }) {
  return (
    <Text component="span" inherit style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
      {formatAmount(amount, currency)} {currency}
    </Text>
  );
}
