// Sends a test event to an endpoint, and shows the result.
import { Alert, Anchor, Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { answerOf, api } from '../api/client.ts';
import { useStepUp } from '../session/step-up.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { formatCode } from '../ui/format.ts';
import { useAct, useRefresh } from '../ui/use-act.ts';
import { useDelivery } from './queries.ts';
import { DELIVERY_STATE_WORDS } from './words.ts';

export function TestEndpoint({ id }: { readonly id: string }) {
  const stepUp = useStepUp();
  const refresh = useRefresh();
  const [deliveryId, setDeliveryId] = useState<string | null>(null);
  const test = useAct(async () => {
    await stepUp('testEndpoint');
    const sent = await answerOf(api.POST('/v1/console/endpoints/{id}/test', { params: { path: { id } } }));
    setDeliveryId(sent.delivery_id);
    void refresh();
  });
  return (
    <>
      <Button loading={test.isBusy} onClick={() => test.run()}>
        Send a test event
      </Button>
      <div style={{ order: 1, flexBasis: '100%' }}>
        <ErrorNotice error={test.error} />
        {deliveryId !== null && <TestResult key={deliveryId} deliveryId={deliveryId} />}
      </div>
    </>
  );
}

function TestResult({ deliveryId }: { readonly deliveryId: string }) {
  const { data, error } = useDelivery(deliveryId);
  if (data === undefined) return <ErrorNotice error={error} />;
  const attempt = data.attempts.at(-1);
  return (
    <Alert
      role="status"
      color={data.state === 'delivered' ? 'teal' : data.state === 'pending' ? 'blue' : 'orange'}
      title={`Test event: ${formatCode(data.state)}`}
    >
      {DELIVERY_STATE_WORDS[data.state]}
      {attempt !== undefined &&
        ` It answered ${attempt.status_code ?? `nothing (${attempt.error ?? 'unknown'})`} after ${attempt.duration_ms} ms.`}{' '}
      <Anchor component={Link} href={`/deliveries/${deliveryId}`} inherit>
        See the delivery
      </Anchor>
    </Alert>
  );
}
