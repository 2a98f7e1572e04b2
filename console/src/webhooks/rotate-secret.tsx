// Rotating the signing secret of an endpoint without losing an event: both secrets sign while they overlap.
import { Modal, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../api/api-error.ts';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { useStepUp } from '../session/step-up.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { ModalActions } from '../ui/modal-actions.tsx';
import { Moment } from '../ui/moment.tsx';
import type { Secret } from '../ui/secret-modal.tsx';
import { submitting, useAct } from '../ui/use-act.ts';
import { useRefresh } from '../ui/use-refresh.ts';

const HOUR_SECONDS = 3600;
const OVERLAPS = [
  { value: '24', label: '24 hours' },
  { value: '12', label: '12 hours' },
  { value: '6', label: '6 hours' },
  { value: '1', label: '1 hour' },
  { value: '0', label: 'not at all: it ends now' },
];

type RotateSecretModalProps = {
  readonly endpoint: Schemas['Endpoint'];
  readonly onRotated: (secret: Secret) => void;
  readonly onClose: () => void;
};

export function RotateSecretModal({ endpoint, onRotated, onClose }: RotateSecretModalProps) {
  const { id, url, previous_secret_until: keptUntil } = endpoint;
  const stepUp = useStepUp();
  const refresh = useRefresh();
  const [hours, setHours] = useState('24');
  const rotate = useAct(async () => {
    await stepUp('rotateEndpointSecret');
    const body = { keep_previous_for: Number(hours) * HOUR_SECONDS };
    try {
      const { secret } = await answerOf(
        api.POST('/v1/console/endpoints/{id}/rotate', { body, params: { path: { id } } }),
      );
      onRotated(endpointSecret('The secret is rotated', secret));
    } finally {
      void refresh();
    }
  });
  return (
    <Modal opened onClose={onClose} title="Rotate the secret" centered closeOnClickOutside={false}>
      <form onSubmit={submitting(rotate)}>
        <Stack>
          <Text size="sm">
            A new secret signs what is sent from now on to <MerchantText text={url} />
          </Text>
          {keptUntil !== null && (
            <Text size="sm">
              The previous secret signs until <Moment at={keptUntil} />; if you rotate again, it stops now.
            </Text>
          )}
          <NativeSelect
            label="The current secret also signs for"
            description={
              'While both sign, your receiver accepts events with the secret that it has, so none is lost before you ' +
              'give it the new one. If somebody else may have the current secret: not at all.'
            }
            data={OVERLAPS}
            value={hours}
            error={rotate.error instanceof ApiError ? rotate.error.byParam['keep_previous_for'] : undefined}
            onChange={({ currentTarget }) => setHours(currentTarget.value)}
          />
          <ErrorNotice error={rotate.error} />
          <ModalActions act={rotate} verb="Rotate it" onBack={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}

export function endpointSecret(title: string, text: string): Secret {
  return {
    title,
    what: 'signing secret',
    text,
    hint: 'Give it to your receiver. With it, the receiver verifies that an event is from Malipo.',
  };
}
