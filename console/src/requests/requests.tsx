// What the API keys sent, and what they were answered.
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import type { paths } from '../../generated/api.ts';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { Filters, FilterSelect, FilterText } from '../ui/filters.tsx';
import { formatCode } from '../ui/format.ts';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { MomentInput } from '../ui/moment-input.tsx';
import { Listed } from '../ui/listed.tsx';
import { Page } from '../ui/page.tsx';
import type { Column } from '../ui/rows.tsx';
import { given, useFilters } from '../ui/use-filters.ts';
import { useList } from '../ui/use-list.ts';

type Filters = Omit<NonNullable<paths['/v1/console/requests']['get']['parameters']['query']>, 'cursor' | 'limit'>;

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
  const { values, set } = useFilters(['status', 'method', 'object', 'key', 'created_from', 'created_to']);
  const filters = given(values) as Filters;
  const list = useList(['requests', filters], (place) =>
    answerOf(api.GET('/v1/console/requests', { params: { query: { ...filters, ...place } } })),
  );
  return (
    <Page title="Requests">
      <Filters values={values}>
        <FilterSelect
          label="Answer"
          options={['2xx', '4xx', '5xx']}
          value={values.status}
          onChange={(status) => set('status', status)}
        />
        <FilterSelect
          label="Method"
          options={['GET', 'POST']}
          value={values.method}
          onChange={(method) => set('method', method)}
        />
        <FilterText label="About (id)" value={values.object} onChange={(id) => set('object', id)} />
        <FilterText label="Key (id)" value={values.key} onChange={(id) => set('key', id)} />
        <MomentInput label="From" value={values.created_from} onChange={(at) => set('created_from', at)} />
        <MomentInput label="Before" value={values.created_to} onChange={(at) => set('created_to', at)} />
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
