// One collection: its fields, its outcome, and its refund.
import { Alert, Anchor, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { ApiError } from '../api/api-error.ts';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Fields } from '../ui/fields.tsx';
import { ObjectPage } from '../ui/page.tsx';
import { Moment } from '../ui/moment.tsx';
import { ObjectLink } from '../ui/object-link.tsx';
import { OwnWords } from '../ui/own-words.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { Phone } from './cells.tsx';
import { useRefundDecisions } from './decide.ts';
import { useOffersRefunds } from './operators.ts';
import { givenBackField, operatorField, originFields, outcomeFields, recordFields } from './payment-fields.tsx';
import { useCollection } from './queries.ts';
import { RefundModal } from './refund-modal.tsx';
import { Timeline } from './timeline.tsx';

type CollectionObject = Schemas['CollectionWithTimeline'];

export function Collection() {
  const { id } = useParams<{ id: string }>();
  const query = useCollection(id);
  return (
    <ObjectPage noun="Collection" query={query}>
      {(collection) => (
        <>
          <RefundOf collection={collection} />
          <CollectionFields collection={collection} />
          <OwnWords {...collection} />
          <Timeline entries={collection.timeline} currency={collection.currency} />
        </>
      )}
    </ObjectPage>
  );
}

function CollectionFields({ collection }: { readonly collection: CollectionObject }) {
  return (
    <Fields
      label="The collection"
      fields={[
        ...outcomeFields(collection),
        ['Payer', <Phone key="phone" phone={collection.phone} />],
        operatorField(collection),
        ['Created', <Moment key="created" at={collection.created_at} />],
        ['Completed', <Moment key="completed" at={collection.completed_at} />],
        ['Prompt ends', <Moment key="prompt" at={collection.prompt_expires_at} />],
        givenBackField(collection),
        ...originFields(collection),
        collection.checkout_id !== null && ['Checkout', <ObjectLink key="checkout" id={collection.checkout_id} />],
        ...recordFields(collection),
      ]}
    />
  );
}

/** The latest refund, or null if there is none. */
async function fetchRefund(id: string): Promise<Schemas['ConsoleReversal'] | null> {
  try {
    return await answerOf(api.GET('/v1/console/collections/{id}/reversal', { params: { path: { id } } }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

function RefundOf({ collection }: { readonly collection: CollectionObject }) {
  const session = useSession();
  const decisions = useRefundDecisions();
  const [, go] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const offersRefunds = useOffersRefunds(collection.operator);
  const { data: refund, error } = useQuery({
    queryKey: ['refund of', collection.id, collection.state],
    queryFn: () => fetchRefund(collection.id),
  });
  if (error !== null) return <ErrorNotice error={error} />;
  if (refund === undefined) return null;
  const isOpen = refund !== null && ['queued', 'released', 'reconciling', 'succeeded'].includes(refund.state);
  const mayAsk = !isOpen && collection.state === 'succeeded' && hasRole(session, 'maker');
  return (
    <>
      {refund !== null && (
        <Alert color="blue" title="A refund was requested">
          <Group gap="xs">
            <Anchor component={Link} inherit href={`/refunds/${refund.id}`}>
              Its page
            </Anchor>
            <StateBadge state={refund.state} />
          </Group>
        </Alert>
      )}
      {mayAsk && offersRefunds === false && (
        <Text size="sm">Its operator takes no refunds: pay the amount out to the payer instead.</Text>
      )}
      {mayAsk && offersRefunds !== false && (
        <Button variant="default" w="fit-content" onClick={() => setAsking(true)}>
          Request a refund…
        </Button>
      )}
      {isAsking && (
        <RefundModal
          title="Request a refund"
          note="The whole amount. It is sent once another person has released it."
          verb="Request it"
          of={collection}
          act={async () => go(`/refunds/${(await decisions.request(collection.id)).id}`)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
