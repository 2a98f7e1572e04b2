// The list of events.
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { Filters, FilterSelect, FilterText } from '../ui/filters.tsx';
import { Moment } from '../ui/moment.tsx';
import { MomentInput } from '../ui/moment-input.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { Listed } from '../ui/listed.tsx';
import { Page } from '../ui/page.tsx';
import type { Column } from '../ui/rows.tsx';
import { given, useFilters } from '../ui/use-filters.ts';
import { useEvents } from './queries.ts';
import { EVENT_TYPES, EVENT_WORDS } from './words.ts';

const COLUMNS: readonly Column<Schemas['Event']>[] = [
  {
    title: 'Type',
    cell: ({ id, type }) => (
      <Anchor component={Link} href={`/events/${id}`} className="row-link" style={{ whiteSpace: 'nowrap' }}>
        {type}
      </Anchor>
    ),
  },
  { title: 'Meaning', cell: ({ type }) => EVENT_WORDS[type] },
  { title: 'Of', cell: ({ object_id }) => <ObjectLink id={object_id} /> },
  { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
];

export function Events() {
  const { values, set } = useFilters(['type', 'object_id', 'created_from', 'created_to']);
  const list = useEvents(given(values));
  const isFiltered = Object.values(values).some((value) => value !== '');
  return (
    <Page title="Events">
      <Filters values={values}>
        <FilterSelect label="Type" options={EVENT_TYPES} value={values.type} onChange={(type) => set('type', type)} />
        <FilterText label="Of (id)" value={values.object_id} onChange={(id) => set('object_id', id)} />
        <MomentInput label="Created from" value={values.created_from} onChange={(at) => set('created_from', at)} />
        <MomentInput label="Created before" value={values.created_to} onChange={(at) => set('created_to', at)} />
      </Filters>
      <Listed
        list={list}
        label="Events"
        columns={COLUMNS}
        empty={isFiltered ? 'No event matches.' : 'There is no event yet. Each new state of a payment becomes one.'}
      />
    </Page>
  );
}
