// The audit log: acts and refusals, with person, object, time and address.
import { NativeSelect, Text } from '@mantine/core';
import type { Schemas } from '../api/client.ts';
import { CopyText } from '../ui/copy-text.tsx';
import { Filters, FilterSelect, FilterText, given, useFilters } from '../ui/filters.tsx';
import { Hint, Page } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment, MomentInput } from '../ui/moment.tsx';
import { IdLink, ObjectLink } from '../ui/object-link.tsx';
import { Listed, type Column } from '../ui/rows.tsx';
import { Person, TheService } from '../ui/person.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { AuditChange } from './audit-change.tsx';
import { useMemberOptions, usePeople, type PersonOf } from './people.ts';
import { useAuditEntries, type AuditFilters } from './queries.ts';

type AuditEntry = Schemas['AuditEntry'];

export function Audit() {
  const personOf = usePeople();
  const members = useMemberOptions();
  const { values, field } = useFilters(['subject_id', 'actor_id', 'action', 'outcome', 'created_from', 'created_to']);
  const list = useAuditEntries(given(values) as AuditFilters);
  const columns: readonly Column<AuditEntry>[] = [
    { title: 'When', cell: ({ at }) => <Moment at={at} /> },
    { title: 'Who', cell: (entry) => <Who entry={entry} /> },
    { title: 'What', cell: ({ action }) => <MerchantText text={actionWords(action)} /> },
    { title: 'Of', cell: ({ subject_id: id }) => (id === null ? '–' : <Subject id={id} personOf={personOf} />) },
    { title: 'Outcome', cell: ({ outcome }) => <StateBadge state={outcome} /> },
    { title: 'Before and after', cell: ({ before, after }) => <AuditChange before={before} after={after} /> },
    { title: 'From', cell: (entry) => <From entry={entry} /> },
  ];
  return (
    <Page title="Audit log">
      <Text c="dimmed">
        What people, API keys and the service did, and what people were refused. Nobody can change the log.
      </Text>
      <Filters values={values}>
        <NativeSelect
          label="Who"
          value={values.actor_id}
          onChange={({ currentTarget }) => field('actor_id').onChange(currentTarget.value)}
          data={[{ value: '', label: 'anybody' }, ...members]}
        />
        <FilterText label="Action" {...field('action')} />
        <FilterText label="Of (id)" {...field('subject_id')} />
        <FilterSelect label="Outcome" options={['done', 'refused']} {...field('outcome')} />
        <MomentInput label="From" {...field('created_from')} />
        <MomentInput label="Before" {...field('created_to')} />
      </Filters>
      <Listed list={list} label="Audit log" columns={columns} empty="No entry matches." />
    </Page>
  );
}

function Who({ entry: { person, api_key: apiKey, staff } }: { readonly entry: AuditEntry }) {
  if (person !== null) return <Person person={person} />;
  if (apiKey === null && staff === null) return <TheService />;
  return (
    <>
      <MerchantText text={apiKey?.name ?? staff?.name ?? 'unknown'} />
      <Hint>{apiKey === null ? 'service staff' : 'API key'}</Hint>
    </>
  );
}

function From({ entry: { address, request_id: id } }: { readonly entry: AuditEntry }) {
  if (address === null && id === null) return '–';
  return (
    <>
      <div>{address}</div>
      {id !== null && <CopyText text={id} shown={`…${id.slice(-6)}`} what="request id" />}
    </>
  );
}

/** `api_key.rolled` as `api key rolled`; a refusal has the name of its request, unchanged. */
function actionWords(action: string): string {
  return action.includes('/') ? action : action.replaceAll(/[._]/g, ' ');
}

/** The pages of objects without a page of their own. */
const PAGES: Readonly<Record<string, readonly [noun: string, href: string]>> = {
  key_: ['API key', '/keys'],
  inv_: ['Invitation', '/members'],
  mch_: ['Change of a member', '/members'],
  pch_: ['Change of the policy', '/policy'],
  rpl_: ['Replay of many', '/deliveries?show=replays'],
};

function Subject({ id, personOf }: { readonly id: string; readonly personOf: PersonOf }) {
  if (id.startsWith('usr_')) return <Person person={personOf(id)} />;
  if (id.startsWith('mer_')) return 'this merchant';
  const page = PAGES[id.slice(0, 4)];
  if (page === undefined) return <ObjectLink id={id} />;
  const [noun, href] = page;
  return <IdLink id={id} noun={noun} href={href} />;
}
