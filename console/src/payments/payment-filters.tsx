// The filters of the lists of payments, and the number of matching payments.
import { MultiSelect, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { readTypedPhone } from '../../../src/domain/payments/typed-phone.ts';
import { useSession } from '../session/session.ts';
import { CreatedFilter, Filters, FilterSelect, FilterText, given, type useFilters } from '../ui/filters.tsx';
import { formatAddressAmount, formatCode, readAmount } from '../ui/format.ts';
import { useCountries } from './operators.ts';

const NAMES = [
  'states',
  'reference',
  'phone',
  'amount_from',
  'amount_to',
  'created_from',
  'created_to',
  'created_by',
  'sort',
] as const;
type Filtering = ReturnType<typeof useFilters<(typeof NAMES)[number]>>;

type PaymentFiltersProps = {
  readonly states: readonly string[];
  readonly filtering: Pick<Filtering, 'values' | 'set' | 'field'>;
  readonly children?: ReactNode;
};

export { NAMES as PAYMENT_FILTERS };

export function PaymentFilters({ states, filtering: { values, set, field }, children }: PaymentFiltersProps) {
  const { currency } = useSession().merchant;
  const amount = (name: 'amount_from' | 'amount_to', label: string) => (
    <FilterText
      label={`${label} (${currency})`}
      value={formatAddressAmount(values[name], currency)}
      check={(text) => {
        const typed = readAmount(text, currency);
        return typed.kind === 'refused' ? typed.message : null;
      }}
      onChange={(text) => {
        const typed = readAmount(text, currency);
        set(name, typed.kind === 'amount' ? String(typed.amount) : '');
      }}
    />
  );
  return (
    <Filters values={values}>
      <MultiSelect
        label="States"
        placeholder={values.states === '' ? 'any' : ''}
        data={states.map((state) => ({ value: state, label: formatCode(state) }))}
        value={values.states === '' ? [] : values.states.split(',')}
        onChange={(chosen) => set('states', chosen.join(','))}
        clearable
        clearButtonProps={{ 'aria-label': 'Any state' }}
        w={{ base: '100%', sm: 240 }}
      />
      <FilterText label="Reference" {...field('reference')} />
      <PhoneFilter {...field('phone')} />
      {amount('amount_from', 'From')}
      {amount('amount_to', 'To')}
      <CreatedFilter field={field} />
      {children}
      <FilterSelect label="Order" options={['oldest', 'largest', 'smallest']} none="newest" {...field('sort')} />
    </Filters>
  );
}

function PhoneFilter({ value, onChange }: { readonly value: string; readonly onChange: (digits: string) => void }) {
  const countries = useCountries() ?? [];
  return (
    <FilterText
      label="Phone"
      value={value}
      check={(text) => {
        const typed = readTypedPhone(text, countries);
        return typed.kind === 'phone' ? null : typed.message;
      }}
      onChange={(text) => {
        const typed = readTypedPhone(text, countries);
        onChange(typed.kind === 'phone' ? typed.phone.digits : '');
      }}
    />
  );
}

/** The form of the API. The API refuses an invalid value of an address, in its own words. */
export function toQuery(values: Filtering['values']) {
  const { states, amount_from, amount_to, ...texts } = values;
  return {
    ...given(texts),
    ...(states !== '' && { states: states.split(',') }),
    ...(amount_from !== '' && { amount_from: Number(amount_from) }),
    ...(amount_to !== '' && { amount_to: Number(amount_to) }),
  };
}

export function Count({
  count,
}: {
  readonly count: { readonly count: number; readonly at_least: boolean } | undefined;
}) {
  if (count === undefined) return null;
  return (
    <Text size="sm" c="dimmed" role="status">
      {count.at_least ? `${count.count.toLocaleString('en')} or more` : count.count.toLocaleString('en')} in all
    </Text>
  );
}
