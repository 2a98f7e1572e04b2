// The list of events.
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { CreatedFilter, Filters, FilterSelect, FilterText, given, useFilters } from '../ui/filters.tsx';
import { Moment } from '../ui/moment.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { Listed, type Column } from '../ui/rows.tsx';
import { Page } from '../ui/page.tsx';
import { useEvents, type EventFilters } from './queries.ts';
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
  const { values, field, isFiltered } = useFilters(['type', 'object_id', 'created_from', 'created_to']);
  const list = useEvents(given(values) as EventFilters);
  return (
    <Page title="Events">
      <Filters values={values}>
        <FilterSelect label="Type" options={EVENT_TYPES} {...field('type')} />
        <FilterText label="Of (id)" {...field('object_id')} />
        <CreatedFilter field={field} />
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
