// Replays many deliveries: the explicit choice of deliveries, and then the progress.
import { Button, Checkbox, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { formatCode } from '../ui/format.ts';
import { ModalActions } from '../ui/modals.tsx';
import { MomentInput } from '../ui/moment.tsx';
import { submitting, useStepUpAct } from '../ui/use-act.ts';
import { EndpointSelect } from './deliveries.tsx';
import { ReplayProgress } from './replays.tsx';
import { useReplay } from './queries.ts';
import { DELIVERY_STATE_WORDS, REPLAYABLE_STATES, type ReplayableState } from './words.ts';

type Chosen = Readonly<Record<'state' | 'endpoint_id' | 'created_from' | 'created_to', string>>;
/** `chosen`: the filters of the list, with which the choice begins. */
type ReplayModalProps = { readonly chosen: Chosen; readonly onClose: () => void };

export function ReplayModal({ chosen, onClose }: ReplayModalProps) {
  const [begun, setBegun] = useState<Schemas['Replay'] | null>(null);
  return (
    <Modal
      opened
      onClose={onClose}
      title={begun === null ? 'Replay many deliveries' : 'The replay has begun'}
      centered
      size="lg"
      closeOnClickOutside={false}
    >
      {begun === null ? (
        <ReplayForm chosen={chosen} onBegun={setBegun} onClose={onClose} />
      ) : (
        <Begun replay={begun} onClose={onClose} />
      )}
    </Modal>
  );
}

type ReplayFormProps = ReplayModalProps & { readonly onBegun: (replay: Schemas['Replay']) => void };

function ReplayForm({ chosen, onBegun, onClose }: ReplayFormProps) {
  const [endpointId, setEndpointId] = useState(chosen.endpoint_id);
  const [states, setStates] = useState<readonly ReplayableState[]>(() => beginWith(chosen.state));
  const [from, setFrom] = useState(chosen.created_from);
  const [before, setBefore] = useState(chosen.created_to);
  const [isAll, setAll] = useState(false);
  const isNarrowed = endpointId !== '' || from !== '' || before !== '';
  const create = useStepUpAct('createReplay', async () => {
    const body: Schemas['CreateReplay'] = {
      states: [...states],
      ...(endpointId !== '' && { endpoint_id: endpointId }),
      ...(from !== '' && { created_from: from }),
      ...(before !== '' && { created_to: before }),
      ...(!isNarrowed && isAll && { all: true as const }),
    };
    onBegun(await answerOf(api.POST('/v1/console/deliveries/replay', { body })));
  });
  return (
    <form onSubmit={submitting(create)}>
      <Stack>
        <Text size="sm">
          Each is sent again with the same bytes, on the whole schedule. Your receiver may get an event twice, and
          recognizes it by its id.
        </Text>
        <States chosen={states} onChange={setStates} />
        <EndpointSelect value={endpointId} onChange={setEndpointId} />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <MomentInput label="Created from" value={from} onChange={setFrom} />
          <MomentInput label="Created before, or now" value={before} onChange={setBefore} />
        </SimpleGrid>
        {!isNarrowed && (
          <Checkbox
            label="All deliveries: every endpoint and any time"
            checked={isAll}
            onChange={({ currentTarget }) => setAll(currentTarget.checked)}
          />
        )}
        <ErrorNotice error={create.error} />
        <ModalActions
          act={create}
          verb="Replay them"
          onBack={onClose}
          isDisabled={states.length === 0 || !(isNarrowed || isAll)}
        />
      </Stack>
    </form>
  );
}

/** The undelivered states, unless the list shows one state that can be replayed. */
function beginWith(state: string): readonly ReplayableState[] {
  const shown = REPLAYABLE_STATES.filter((replayable) => replayable === state);
  return shown.length > 0 ? shown : ['dead_lettered', 'withheld'];
}

type StatesProps = {
  readonly chosen: readonly ReplayableState[];
  readonly onChange: (chosen: readonly ReplayableState[]) => void;
};

function States({ chosen, onChange }: StatesProps) {
  return (
    <Checkbox.Group
      label="States"
      value={[...chosen]}
      onChange={(values) => onChange(REPLAYABLE_STATES.filter((state) => values.includes(state)))}
    >
      <Stack gap="xs" mt="xs">
        {REPLAYABLE_STATES.map((state) => (
          <Checkbox key={state} value={state} label={formatCode(state)} description={DELIVERY_STATE_WORDS[state]} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

function Begun({ replay, onClose }: { readonly replay: Schemas['Replay']; readonly onClose: () => void }) {
  const { data, error } = useReplay(replay);
  return (
    <Stack>
      <ReplayProgress replay={data} />
      <ErrorNotice error={error} />
      {data.state === 'running' && (
        <Text size="sm" c="dimmed">
          You can close this: the replay continues, and stays visible under “Replays of many”.
        </Text>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
