// Rotating the signing secret of an endpoint without losing an event: both secrets sign while they overlap.
import { Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { FormModal } from '../ui/modals.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { ONE_DAY_SECONDS, OverlapChoice } from '../ui/overlap-choice.tsx';
import type { Secret } from '../ui/secret-modal.tsx';
import { useStepUpAct } from '../ui/use-act.ts';

type RotateSecretModalProps = {
  readonly endpoint: Schemas['Endpoint'];
  readonly onRotated: (secret: Secret) => void;
  readonly onClose: () => void;
};

export function RotateSecretModal({ endpoint, onRotated, onClose }: RotateSecretModalProps) {
  const { id, url, previous_secret_until: keptUntil } = endpoint;
  const [seconds, setSeconds] = useState(ONE_DAY_SECONDS);
  const rotate = useStepUpAct('rotateEndpointSecret', async () => {
    const body = { keep_previous_for: seconds };
    const { secret } = await answerOf(
      api.POST('/v1/console/endpoints/{id}/rotate', { body, params: { path: { id } } }),
    );
    onRotated(endpointSecret('The secret is rotated', secret));
  });
  return (
    <FormModal onClose={onClose} title="Rotate the secret" act={rotate} verb="Rotate it">
      <Text size="sm">
        A new secret signs what is sent from now on to <MerchantText text={url} />
      </Text>
      {keptUntil !== null && (
        <Text size="sm">
          The previous secret signs until <Moment at={keptUntil} />; if you rotate again, it stops now.
        </Text>
      )}
      <OverlapChoice
        label="The current secret also signs for"
        description={
          'While both sign, your receiver accepts events with the secret that it has, so none is lost before you ' +
          'give it the new one. If somebody else may have the current secret: not at all.'
        }
        hours={[1, 6, 12, 24]}
        none="it ends now"
        seconds={seconds}
        error={rotate.byParam['keep_previous_for']}
        onSeconds={setSeconds}
      />
    </FormModal>
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
