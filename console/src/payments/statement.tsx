// The statement: every change of the balance, with the balance after it.
import { answerOf, api, type ListQuery, type Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { Filters, FilterSelect, FilterText, given, useFilters } from '../ui/filters.tsx';
import { formatCode } from '../ui/format.ts';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment, MomentInput } from '../ui/moment.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { REFERENCE_TITLE } from '../ui/own-words.tsx';
import { Listed, useList, type Column } from '../ui/rows.tsx';
import { Page } from '../ui/page.tsx';
import { useExport } from '../ui/use-export.tsx';

type Entry = Schemas['LedgerEntryList']['data'][number];

const KINDS = [
  'collection_paid',
  'collection_reversed',
  'payout_held',
  'payout_voided',
  'payout_paid',
  'payout_returned',
];

const COLUMNS: readonly Column<Entry>[] = [
  { title: 'When', cell: ({ created_at }) => <Moment at={created_at} /> },
  { title: 'Account', cell: ({ account }) => account },
  { title: 'What', cell: ({ kind }) => formatCode(kind) },
  { title: 'Of', cell: ({ payment_id }) => <ObjectLink id={payment_id} /> },
  { title: 'Amount', isNumber: true, cell: ({ amount, currency }) => <Amount amount={amount} currency={currency} /> },
  {
    title: 'Balance',
    isNumber: true,
    cell: ({ balance, currency }) => <Amount amount={balance} currency={currency} />,
  },
  { title: REFERENCE_TITLE, cell: ({ reference }) => <MerchantText text={reference} /> },
];

export function Statement() {
  const { values, field } = useFilters(['account', 'kind', 'payment_id', 'created_from', 'created_to']);
  const filters = given(values) as ListQuery<'/v1/console/ledger/entries'>;
  const list = useList(['ledger', filters], (place) =>
    answerOf(api.GET('/v1/console/ledger/entries', { params: { query: { ...filters, ...place } } })),
  );
  const csv = useExport(() => api.GET('/v1/console/ledger.csv', { params: { query: filters }, parseAs: 'blob' }));
  return (
    <Page title="Statement" actions={csv.button}>
      <Filters values={values}>
        <FilterSelect label="Account" options={['available', 'held']} {...field('account')} />
        <FilterSelect label="What" options={KINDS} {...field('kind')} />
        <FilterText label="Of (id)" {...field('payment_id')} />
        <MomentInput label="From" {...field('created_from')} />
        <MomentInput label="Before" {...field('created_to')} />
      </Filters>
      {csv.problem}
      <Listed list={list} label="Statement" columns={COLUMNS} empty="No entry matches." />
    </Page>
  );
}
