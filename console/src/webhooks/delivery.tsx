// One delivery: its event and endpoint, each attempt with its answer, and sending it again.
import { Alert, Anchor, Button } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { useStepUp } from '../session/step-up.tsx';
import { CopyText } from '../ui/copy-text.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Fields } from '../ui/fields.tsx';
import { Loaded, Page, Part } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { useAct, useRefresh } from '../ui/use-act.ts';
import { Attempts } from './attempts.tsx';
import { useDelivery, useEndpointUrls } from './queries.ts';
import { DELIVERY_STATE_WORDS } from './words.ts';

type DeliveryObject = Schemas['DeliveryWithAttempts'];

export function Delivery() {
  const { id } = useParams<{ id: string }>();
  const query = useDelivery(id);
  return (
    <Page title={query.data === undefined ? 'Delivery' : `Delivery of ${query.data.event_type}`}>
      <Loaded query={query}>
        {(delivery) => (
          <>
            <Condition delivery={delivery} />
            <Replay delivery={delivery} />
            <DeliveryFields delivery={delivery} />
            <Part title="Attempts">
              <Attempts attempts={delivery.attempts} />
            </Part>
          </>
        )}
      </Loaded>
    </Page>
  );
}

const COLOURS: Readonly<Record<DeliveryObject['state'], string>> = {
  pending: 'blue',
  retrying: 'orange',
  delivered: 'teal',
  dead_lettered: 'red',
  withheld: 'gray',
};

function Condition({ delivery: { state, next_attempt_at: next } }: { readonly delivery: DeliveryObject }) {
  return (
    <Alert color={COLOURS[state]} role="status">
      {DELIVERY_STATE_WORDS[state]}
      {next !== null && (
        <>
          {' '}
          The next attempt: <Moment at={next} />.
        </>
      )}
    </Alert>
  );
}

function Replay({ delivery: { id, state } }: { readonly delivery: DeliveryObject }) {
  const session = useSession();
  const stepUp = useStepUp();
  const refresh = useRefresh();
  const replay = useAct(async () => {
    await stepUp('replayDelivery');
    try {
      await answerOf(api.POST('/v1/console/deliveries/{id}/replay', { params: { path: { id } } }));
    } finally {
      await refresh();
    }
  });
  // A delivery that is about to be sent stays unchanged.
  if (state === 'pending' || !hasRole(session, 'admin', 'developer')) return null;
  return (
    <>
      <Button w="fit-content" loading={replay.isBusy} onClick={() => replay.run()}>
        {state === 'retrying' ? 'Send it now' : 'Replay it'}
      </Button>
      <ErrorNotice error={replay.error} />
    </>
  );
}

function DeliveryFields({ delivery }: { readonly delivery: DeliveryObject }) {
  const { id, event_id, event_type, endpoint_id, attempt_count, replay_count } = delivery;
  const urlOf = useEndpointUrls();
  return (
    <Fields
      label="The delivery"
      fields={[
        ['State', <StateBadge key="state" state={delivery.state} />],
        [
          'Event',
          <Anchor key="event" component={Link} href={`/events/${event_id}`}>
            {event_type}
          </Anchor>,
        ],
        [
          'Endpoint',
          <Anchor key="endpoint" component={Link} href={`/endpoints/${endpoint_id}`}>
            <MerchantText text={urlOf(endpoint_id)} isLink />
          </Anchor>,
        ],
        ['Attempts', String(attempt_count)],
        ['Replayed', replay_count === 0 ? 'never' : replay_count === 1 ? 'once' : `${replay_count} times`],
        ['Created', <Moment key="created" at={delivery.created_at} />],
        ['Changed', <Moment key="changed" at={delivery.updated_at} />],
        ['Id', <CopyText key="id" text={id} what="id" />],
      ]}
    />
  );
}
