// The list of deliveries, and the replays of many.
import { Anchor, Button, NativeSelect, SegmentedControl } from '@mantine/core';
import { useState, type ComponentProps } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { CreatedFilter, Filters, FilterSelect, given, useFilters } from '../ui/filters.tsx';
import { Hint, Page } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { Listed, type Column } from '../ui/rows.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { useDeliveries, useEndpoints, useEndpointUrls, type DeliveryFilters } from './queries.ts';
import { ReplayModal } from './replay-modal.tsx';
import { Replays } from './replays.tsx';
import { DELIVERY_STATES } from './words.ts';

type DeliveryObject = Schemas['Delivery'];

export function Deliveries() {
  const session = useSession();
  const { values, set, field } = useFilters(['show', 'state', 'endpoint_id', 'created_from', 'created_to']);
  const { show, ...filters } = values;
  const [isReplaying, setReplaying] = useState(false);
  const replay = hasRole(session, 'admin', 'developer') && (
    <Button variant="default" onClick={() => setReplaying(true)}>
      Replay many…
    </Button>
  );
  return (
    <Page title="Deliveries" actions={replay}>
      <SegmentedControl
        aria-label="Which"
        data={[
          { value: 'deliveries', label: 'Deliveries' },
          { value: 'replays', label: 'Replays of many' },
        ]}
        value={show === 'replays' ? 'replays' : 'deliveries'}
        onChange={(value) => set('show', value === 'replays' ? value : null)}
        w="fit-content"
      />
      {show === 'replays' ? <Replays /> : <DeliveryList filters={filters} field={field} />}
      {isReplaying && <ReplayModal chosen={filters} onClose={() => setReplaying(false)} />}
    </Page>
  );
}

type Filters = Readonly<Record<'state' | 'endpoint_id' | 'created_from' | 'created_to', string>>;
type DeliveryListProps = {
  readonly filters: Filters;
  readonly field: (name: keyof Filters) => ComponentProps<typeof EndpointSelect>;
};

function DeliveryList({ filters, field }: DeliveryListProps) {
  const urlOf = useEndpointUrls();
  const list = useDeliveries(given(filters) as DeliveryFilters);
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <>
      <Filters values={filters}>
        <FilterSelect label="State" options={DELIVERY_STATES} {...field('state')} />
        <EndpointSelect {...field('endpoint_id')} />
        <CreatedFilter field={field} />
      </Filters>
      <Listed
        list={list}
        label="Deliveries"
        columns={deliveryColumns(urlOf)}
        empty={
          isFiltered
            ? 'No delivery matches.'
            : 'Nothing was sent yet. Each event becomes a delivery to every endpoint that receives its type.'
        }
      />
    </>
  );
}

type EndpointSelectProps = { readonly value: string; readonly onChange: (id: string) => void };

export function EndpointSelect({ value, onChange }: EndpointSelectProps) {
  const { data: endpoints = [] } = useEndpoints();
  const isListed = value === '' || endpoints.some(({ id }) => id === value);
  return (
    <NativeSelect
      label="Endpoint"
      maw={280}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[
        { value: '', label: 'any' },
        ...endpoints.map(({ id, url }) => ({ value: id, label: url })),
        // The deliveries of a deleted endpoint stay.
        ...(isListed ? [] : [{ value, label: value }]),
      ]}
    />
  );
}

/** `urlOf` is null if the endpoint is the same for all rows. */
export function deliveryColumns(urlOf: ((id: string) => string) | null): readonly Column<DeliveryObject>[] {
  const endpoint: Column<DeliveryObject>[] =
    urlOf === null
      ? []
      : [
          {
            title: 'Endpoint',
            cell: ({ endpoint_id: id }) => (
              <Anchor component={Link} href={`/endpoints/${id}`}>
                <MerchantText text={urlOf(id)} isLink />
              </Anchor>
            ),
          },
        ];
  return [
    {
      title: 'Event',
      cell: ({ id, event_type }) => (
        <Anchor component={Link} href={`/deliveries/${id}`} className="row-link" style={{ whiteSpace: 'nowrap' }}>
          {event_type}
        </Anchor>
      ),
    },
    {
      title: 'State',
      cell: ({ state, next_attempt_at: next }) => (
        <>
          <StateBadge state={state} />
          {next !== null && (
            <Hint>
              again <Moment at={next} />
            </Hint>
          )}
        </>
      ),
    },
    { title: 'Attempts', isNumber: true, cell: ({ attempt_count }) => attempt_count },
    { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
    ...endpoint,
  ];
}
