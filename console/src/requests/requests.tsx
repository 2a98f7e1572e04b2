// The requests of API keys, and their answers.
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { answerOf, api, type ListQuery, type Schemas } from '../api/client.ts';
import { Filters, FilterSelect, FilterText, given, useFilters } from '../ui/filters.tsx';
import { formatCode } from '../ui/format.ts';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment, MomentInput } from '../ui/moment.tsx';
import { Listed, useList, type Column } from '../ui/rows.tsx';
import { Page } from '../ui/page.tsx';

const COLUMNS: readonly Column<Schemas['ApiRequest']>[] = [
  { title: 'Answer', isNumber: true, cell: ({ status }) => status },
  { title: 'Error', cell: ({ error_code }) => (error_code === null ? '' : formatCode(error_code)) },
  { title: 'Took', isNumber: true, cell: ({ duration_ms }) => `${duration_ms} ms` },
  { title: 'When', cell: ({ created_at }) => <Moment at={created_at} /> },
  {
    title: 'Request',
    cell: ({ id, method, path }) => (
      <Anchor component={Link} inherit href={`/requests/${id}`} className="row-link">
        {method} <MerchantText text={path} isLink />
      </Anchor>
    ),
  },
  { title: 'Key', cell: ({ api_key: { name } }) => <MerchantText text={name} /> },
];

export function ApiRequests() {
  const { values, field } = useFilters(['status', 'method', 'object', 'key', 'created_from', 'created_to']);
  const filters = given(values) as ListQuery<'/v1/console/requests'>;
  const list = useList(['requests', filters], (place) =>
    answerOf(api.GET('/v1/console/requests', { params: { query: { ...filters, ...place } } })),
  );
  return (
    <Page title="Requests">
      <Filters values={values}>
        <FilterSelect label="Answer" options={['2xx', '4xx', '5xx']} {...field('status')} />
        <FilterSelect label="Method" options={['GET', 'POST']} {...field('method')} />
        <FilterText label="About (id)" {...field('object')} />
        <FilterText label="Key (id)" {...field('key')} />
        <MomentInput label="From" {...field('created_from')} />
        <MomentInput label="Before" {...field('created_to')} />
      </Filters>
      <Listed
        list={list}
        label="Requests"
        columns={COLUMNS}
        empty="No request matches. Requests of API keys appear here after some seconds, without their bodies."
      />
    </Page>
  );
}
