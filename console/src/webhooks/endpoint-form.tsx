// The settings of a new or changed endpoint: its URL, description and event types.
import { Checkbox, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../api/client.ts';
import { FormModal } from '../ui/modals.tsx';
import { useStepUpAct } from '../ui/use-act.ts';
import { EVENT_WORDS, PAYMENT_EVENT_TYPES, type PaymentEventType } from './words.ts';

export type EndpointSettings = {
  readonly url: string;
  readonly description: string | null;
  readonly event_types: PaymentEventType[] | null;
};

type EndpointFormProps = {
  readonly title: string;
  readonly verb: string;
  readonly operationId: string;
  /** Null: a new one. */
  readonly endpoint: Schemas['Endpoint'] | null;
  readonly save: (settings: EndpointSettings) => Promise<unknown>;
  readonly onClose: () => void;
};

export function EndpointForm({ title, verb, operationId, endpoint, save, onClose }: EndpointFormProps) {
  const [url, setUrl] = useState(endpoint?.url ?? 'https://');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [types, setTypes] = useState<readonly PaymentEventType[] | null>(endpoint?.event_types ?? null);
  const saved = useStepUpAct(operationId, async () => {
    await save({
      url: url.trim(),
      description: description.trim() === '' ? null : description.trim(),
      event_types: types === null ? null : [...types],
    });
  });
  return (
    <FormModal
      title={title}
      size="lg"
      act={saved}
      verb={verb}
      isDisabled={url.trim() === '' || types?.length === 0}
      onClose={onClose}
    >
      <TextInput
        type="url"
        label="URL"
        description="An https address of the public internet, to which events are posted."
        required
        autoComplete="off"
        data-autofocus
        value={url}
        error={saved.byParam['url']}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      <TextInput
        label="Description"
        description="Tells people which endpoint this is."
        maxLength={200}
        autoComplete="off"
        value={description}
        error={saved.byParam['description']}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
      />
      <EventTypes chosen={types} error={saved.byParam['event_types']} onChange={setTypes} />
    </FormModal>
  );
}

type EventTypesProps = {
  readonly chosen: readonly PaymentEventType[] | null;
  readonly error: string | undefined;
  readonly onChange: (chosen: readonly PaymentEventType[] | null) => void;
};

function EventTypes({ chosen, error, onChange }: EventTypesProps) {
  return (
    <>
      <Radio.Group
        label="Events"
        error={error}
        value={chosen === null ? 'all' : 'some'}
        onChange={(value) => onChange(value === 'all' ? null : [])}
      >
        <Stack gap="xs" mt={4}>
          <Radio value="all" label="All types, future ones included" />
          <Radio value="some" label="Only these" />
        </Stack>
      </Radio.Group>
      {chosen !== null && (
        <Checkbox.Group
          aria-label="Types of events"
          value={[...chosen]}
          onChange={(values) => onChange(PAYMENT_EVENT_TYPES.filter((type) => values.includes(type)))}
        >
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" pl={{ base: 0, xs: 'lg' }}>
            {PAYMENT_EVENT_TYPES.map((type) => (
              <Checkbox key={type} value={type} label={type} description={EVENT_WORDS[type]} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
      )}
    </>
  );
}
