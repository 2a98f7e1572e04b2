// One endpoint: its state, its acts, and its latest deliveries.
import { Alert, Anchor, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { ConfirmModal } from '../ui/modals.tsx';
import { CopyText } from '../ui/copy-text.tsx';
import { Fields } from '../ui/fields.tsx';
import { Loaded, Page, Part } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { DESCRIPTION_TITLE } from '../ui/own-words.tsx';
import { Rows } from '../ui/rows.tsx';
import { SecretModal, type Secret } from '../ui/secret-modal.tsx';
import { deliveryColumns } from './deliveries.tsx';
import { EndpointForm, type EndpointSettings } from './endpoint-form.tsx';
import { EndpointState } from './endpoints.tsx';
import { useDeliveries, useEndpoint } from './queries.ts';
import { RotateSecretModal } from './rotate-secret.tsx';
import { TestEndpoint } from './test-endpoint.tsx';

type EndpointObject = Schemas['Endpoint'];

export function Endpoint() {
  const { id } = useParams<{ id: string }>();
  const session = useSession();
  const query = useEndpoint(id);
  return (
    <Page title="Endpoint">
      <Loaded query={query}>
        {(endpoint) => (
          <>
            <Condition endpoint={endpoint} />
            {hasRole(session, 'admin', 'developer') && <Acts endpoint={endpoint} />}
            <EndpointFields endpoint={endpoint} />
            <LatestDeliveries id={endpoint.id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const WHY_DISABLED: Readonly<Record<NonNullable<EndpointObject['disabled_reason']>, string>> = {
  by_person: 'Somebody in your team disabled it.',
  answered_gone: 'It answered 410 Gone, which asks us to stop sending.',
  failing: 'Every attempt failed for too long.',
};

function Condition({ endpoint }: { readonly endpoint: EndpointObject }) {
  const { state, failing_since, will_be_disabled_at, disabled_reason } = endpoint;
  if (state === 'disabled') {
    return (
      <Alert color="gray" title="Disabled: nothing is sent to it">
        {disabled_reason !== null && WHY_DISABLED[disabled_reason]} New deliveries are withheld. Enable it, then replay
        the withheld deliveries.
      </Alert>
    );
  }
  if (failing_since === null) return null;
  return (
    <Alert color="orange" title="Failing">
      Since <Moment at={failing_since} /> it accepted nothing. If it keeps failing, it is disabled at{' '}
      <Moment at={will_be_disabled_at} />. A delivery below shows what it answered.
    </Alert>
  );
}

function EndpointFields({ endpoint }: { readonly endpoint: EndpointObject }) {
  const { id, url, description, event_types, disabled_at, previous_secret_until } = endpoint;
  return (
    <Fields
      label="The endpoint"
      fields={[
        ['State', <EndpointState key="state" endpoint={endpoint} />],
        ['URL', <CopyText key="url" text={url} what="URL" isCut />],
        [DESCRIPTION_TITLE, description === null ? '–' : <MerchantText key="text" text={description} />],
        ['Events', event_types === null ? 'all' : event_types.join(', ')],
        disabled_at !== null && ['Disabled', <Moment key="disabled" at={disabled_at} />],
        previous_secret_until !== null && [
          'Previous secret signs until',
          <Moment key="kept" at={previous_secret_until} />,
        ],
        ['Registered', <Moment key="created" at={endpoint.created_at} />],
        ['Changed', <Moment key="changed" at={endpoint.updated_at} />],
        ['Id', <CopyText key="id" text={id} what="id" />],
      ]}
    />
  );
}

type Open = 'change' | 'rotate' | 'state' | 'delete';

function Acts({ endpoint }: { readonly endpoint: EndpointObject }) {
  const { id, state } = endpoint;
  const [open, setOpen] = useState<Open | null>(null);
  const [secret, setSecret] = useState<Secret | null>(null);
  const close = () => setOpen(null);
  const change = async (body: EndpointSettings) => {
    await answerOf(api.PATCH('/v1/console/endpoints/{id}', { body, params: { path: { id } } }));
    close();
  };
  const choices: readonly (readonly [Open, string])[] = [
    ['change', 'Change…'],
    ['rotate', 'Rotate the secret…'],
    ['state', state === 'enabled' ? 'Disable…' : 'Enable…'],
    ['delete', 'Delete…'],
  ];
  return (
    <>
      <Group gap="xs" align="flex-start">
        {state === 'enabled' && <TestEndpoint id={id} />}
        {choices.map(([which, label]) => (
          <Button key={which} variant="default" onClick={() => setOpen(which)}>
            {label}
          </Button>
        ))}
      </Group>
      {open === 'change' && (
        <EndpointForm
          title="Change the endpoint"
          verb="Change it"
          operationId="changeEndpoint"
          endpoint={endpoint}
          save={change}
          onClose={close}
        />
      )}
      {open === 'rotate' && (
        <RotateSecretModal
          endpoint={endpoint}
          onRotated={(rotated) => {
            close();
            setSecret(rotated);
          }}
          onClose={close}
        />
      )}
      {open === 'state' && <StateModal endpoint={endpoint} onClose={close} />}
      {open === 'delete' && <DeleteModal endpoint={endpoint} onClose={close} />}
      <SecretModal secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

type ActModalProps = { readonly endpoint: EndpointObject; readonly onClose: () => void };

function StateModal({ endpoint: { id, url, state }, onClose }: ActModalProps) {
  // As of the opening of the dialog: the button does what it says.
  const [isEnabling] = useState(state === 'disabled');
  const body = { state: isEnabling ? 'enabled' : 'disabled' } as const;
  return (
    <ConfirmModal
      title={isEnabling ? 'Enable the endpoint?' : 'Disable the endpoint?'}
      verb={isEnabling ? 'Enable it' : 'Disable it'}
      isDestructive={!isEnabling}
      operationId="changeEndpoint"
      act={() => answerOf(api.PATCH('/v1/console/endpoints/{id}', { body, params: { path: { id } } }))}
      onClose={onClose}
    >
      <MerchantText text={url} />
      <Text size="sm">
        {isEnabling
          ? 'Events are sent to it from now on. What was withheld is sent when you replay it.'
          : 'Nothing more is sent to it. New deliveries are withheld; to send them, enable the endpoint and replay them.'}
      </Text>
    </ConfirmModal>
  );
}

function DeleteModal({ endpoint: { id, url }, onClose }: ActModalProps) {
  const [, go] = useLocation();
  return (
    <ConfirmModal
      title="Delete the endpoint?"
      verb="Delete it"
      isDestructive
      operationId="deleteEndpoint"
      act={async () => {
        await answerOf(api.DELETE('/v1/console/endpoints/{id}', { params: { path: { id } } }));
        go('/endpoints');
      }}
      onClose={onClose}
    >
      <MerchantText text={url} />
      <Text size="sm">
        Nothing more is sent to it, and its secret is erased. That cannot be undone. Its deliveries stay visible, and
        cannot be replayed.
      </Text>
    </ConfirmModal>
  );
}

function LatestDeliveries({ id }: { readonly id: string }) {
  const { query } = useDeliveries({ endpoint_id: id });
  const shown = 10;
  return (
    <Part title="Latest deliveries">
      <Loaded query={query}>
        {(rows) => (
          <Rows
            label="Latest deliveries"
            columns={deliveryColumns(null)}
            rows={rows.slice(0, shown)}
            empty="Nothing was sent to it yet. Test it, or wait for a payment."
          />
        )}
      </Loaded>
      <Anchor component={Link} href={`/deliveries?endpoint_id=${id}`} w="fit-content">
        All deliveries to it
      </Anchor>
    </Part>
  );
}
