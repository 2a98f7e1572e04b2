// The settings of an endpoint, for a new one and for one that is changed: its URL, what it is, and which events go to it.
import { Checkbox, Modal, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../api/api-error.ts';
import type { Schemas } from '../api/client.ts';
import { useStepUp } from '../session/step-up.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { ModalActions } from '../ui/modal-actions.tsx';
import { submitting, useAct } from '../ui/use-act.ts';
import { useRefresh } from '../ui/use-refresh.ts';
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
  const stepUp = useStepUp();
  const refresh = useRefresh();
  const [url, setUrl] = useState(endpoint?.url ?? 'https://');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [types, setTypes] = useState<readonly PaymentEventType[] | null>(endpoint?.event_types ?? null);
  const saved = useAct(async () => {
    await stepUp(operationId);
    try {
      await save({
        url: url.trim(),
        description: description.trim() === '' ? null : description.trim(),
        event_types: types === null ? null : [...types],
      });
    } finally {
      void refresh();
    }
  });
  const byParam = saved.error instanceof ApiError ? saved.error.byParam : {};
  return (
    <Modal opened onClose={onClose} title={title} centered size="lg" closeOnClickOutside={false}>
      <form onSubmit={submitting(saved)}>
        <Stack>
          <TextInput
            type="url"
            label="URL"
            description="An https address of the public internet, to which events are posted."
            required
            autoComplete="off"
            data-autofocus
            value={url}
            error={byParam['url']}
            onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          />
          <TextInput
            label="Description"
            description="Tells people which endpoint this is."
            maxLength={200}
            autoComplete="off"
            value={description}
            error={byParam['description']}
            onChange={({ currentTarget }) => setDescription(currentTarget.value)}
          />
          <EventTypes chosen={types} error={byParam['event_types']} onChange={setTypes} />
          <ErrorNotice error={saved.error} />
          <ModalActions
            act={saved}
            verb={verb}
            onBack={onClose}
            isDisabled={url.trim() === '' || types?.length === 0}
          />
        </Stack>
      </form>
    </Modal>
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
