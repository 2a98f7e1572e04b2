// The list of endpoints, and the registration of one.
import { Anchor, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { Hint, Loaded, Page } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { SecretModal, type Secret } from '../ui/secret-modal.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { EndpointForm, type EndpointSettings } from './endpoint-form.tsx';
import { useEndpoints } from './queries.ts';
import { endpointSecret } from './rotate-secret.tsx';

type EndpointObject = Schemas['Endpoint'];

export function Endpoints() {
  const session = useSession();
  const query = useEndpoints();
  const [, go] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<{ readonly id: string; readonly secret: Secret } | null>(null);
  const mayRegister = hasRole(session, 'admin', 'developer');
  const register = async (body: EndpointSettings) => {
    const endpoint = await answerOf(api.POST('/v1/console/endpoints', { body }));
    setOpen(false);
    setMade({ id: endpoint.id, secret: endpointSecret('The endpoint is registered', endpoint.secret) });
  };
  return (
    <Page title="Endpoints" actions={mayRegister && <Button onClick={() => setOpen(true)}>New endpoint…</Button>}>
      <Text c="dimmed">Events are sent to your endpoints, each signed with the secret of its endpoint.</Text>
      <Loaded query={query}>
        {(rows) => (
          <Rows
            label="Endpoints"
            columns={COLUMNS}
            rows={rows}
            empty={
              mayRegister
                ? 'There is no endpoint yet, so no events are sent. Register one with “New endpoint”.'
                : 'There is no endpoint yet. An owner, admin or developer registers one.'
            }
          />
        )}
      </Loaded>
      {isOpen && (
        <EndpointForm
          title="New endpoint"
          verb="Register it"
          operationId="createEndpoint"
          endpoint={null}
          save={register}
          onClose={() => setOpen(false)}
        />
      )}
      <SecretModal
        secret={made?.secret ?? null}
        onClose={() => {
          setMade(null);
          if (made !== null) go(`/endpoints/${made.id}`);
        }}
      />
    </Page>
  );
}

const COLUMNS: readonly Column<EndpointObject>[] = [
  { title: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
  {
    title: 'Events',
    cell: ({ event_types: types }) =>
      types === null ? 'all' : types.length === 1 ? types[0] : `${types.length} types`,
  },
  { title: 'Registered', cell: ({ created_at }) => <Moment at={created_at} /> },
  {
    title: 'URL',
    cell: ({ id, url, description }) => (
      <>
        <Anchor component={Link} href={`/endpoints/${id}`} className="row-link">
          <MerchantText text={url} isLink />
        </Anchor>
        {description !== null && (
          <Hint>
            <MerchantText text={description} />
          </Hint>
        )}
      </>
    ),
  },
];

/** An enabled endpoint that is failing is shown as failing: somebody must act. */
export function EndpointState({ endpoint: { state, failing_since } }: { readonly endpoint: EndpointObject }) {
  return <StateBadge state={state === 'enabled' && failing_since !== null ? 'failing' : state} />;
}
