// The replays of many deliveries: who requested which, and the progress of each.
import { Progress, Stack, Text } from '@mantine/core';
import type { Schemas } from '../api/client.ts';
import { formatCode } from '../ui/format.ts';
import { Listed, type Column } from '../ui/rows.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { Person } from '../ui/person.tsx';
import { useEndpointUrls, useReplay, useReplays } from './queries.ts';

type ReplayObject = Schemas['Replay'];

/** The API counts no further when a replay begins. */
const COUNTED_TO = 1_000_000;

export function Replays() {
  const urlOf = useEndpointUrls();
  const list = useReplays();
  const columns: readonly Column<ReplayObject>[] = [
    { title: 'Begun', cell: ({ created_at }) => <Moment at={created_at} /> },
    { title: 'By', cell: ({ requested_by_person }) => <Person person={requested_by_person} /> },
    {
      title: 'Endpoint',
      cell: ({ endpoint_id: id }) => <>{id === null ? 'every one' : <MerchantText text={urlOf(id)} />}</>,
    },
    { title: 'States', cell: ({ states }) => states.map(formatCode).join(', ') },
    {
      title: 'Created',
      cell: ({ created_from: from, created_to: to }) => (
        <>
          {from !== null && (
            <div>
              from <Moment at={from} />
            </div>
          )}
          <div>
            before <Moment at={to} />
          </div>
        </>
      ),
    },
    { title: 'Progress', cell: (replay) => <Live replay={replay} /> },
  ];
  return (
    <Listed
      list={list}
      label="Replays of many"
      columns={columns}
      empty="Nobody has replayed many deliveries yet. “Replay many” sends failed deliveries again."
    />
  );
}

function Live({ replay }: { readonly replay: ReplayObject }) {
  const { data } = useReplay(replay);
  return <ReplayProgress replay={data} />;
}

export function ReplayProgress({ replay }: { readonly replay: ReplayObject }) {
  const { state, total, replayed, skipped } = replay;
  const isDone = state === 'completed';
  const handled = replayed + skipped;
  const percent = isDone ? 100 : total === 0 ? 0 : Math.min(99, (handled / total) * 100);
  const counted = total >= COUNTED_TO ? `${total.toLocaleString('en')} or more` : total.toLocaleString('en');
  return (
    <Stack gap={4} miw={200} role="status">
      <Progress value={percent} color={isDone ? 'teal' : 'blue'} aria-label="Progress of the replay" />
      <Text size="sm">
        {isDone ? 'Completed: ' : ''}
        {replayed.toLocaleString('en')} of {counted} on their way again
        {skipped > 0 && `, ${skipped.toLocaleString('en')} skipped because their endpoint is disabled or deleted`}
      </Text>
    </Stack>
  );
}
