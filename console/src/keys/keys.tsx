// The API keys of the merchant, with creating, rolling and revoking them.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { ConfirmModal } from '../ui/modals.tsx';
import { Hint, Page } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { Listed, useList, type Column } from '../ui/rows.tsx';
import { Actor } from '../ui/person.tsx';
import { SecretModal, type Secret } from '../ui/secret-modal.tsx';
import { RowButton } from '../ui/row-button.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { CreateKeyModal } from './create-key.tsx';
import { RollKeyModal } from './roll-key.tsx';
import { mayHandle } from './scopes.ts';

export type ApiKey = Schemas['ApiKey'];

type Open = { readonly act: 'create' } | { readonly act: 'roll' | 'revoke'; readonly apiKey: ApiKey };

export function ApiKeys() {
  const session = useSession();
  const list = useList(['keys'], (place) => answerOf(api.GET('/v1/console/keys', { params: { query: place } })));
  const [open, setOpen] = useState<Open | null>(null);
  const [secret, setSecret] = useState<Secret | null>(null);
  const close = () => setOpen(null);
  const mayCreate = hasRole(session, 'admin', 'developer');
  const show = (made: Secret) => {
    close();
    setSecret(made);
  };
  return (
    <Page
      title="API keys"
      actions={mayCreate && <Button onClick={() => setOpen({ act: 'create' })}>New API key…</Button>}
    >
      <Text c="dimmed">With an API key your server calls the API. Each server should have its own.</Text>
      <Listed
        list={list}
        label="API keys"
        columns={[
          ...COLUMNS,
          ...(mayCreate
            ? [{ title: 'Acts', cell: (apiKey: ApiKey) => <Acts apiKey={apiKey} onOpen={setOpen} /> }]
            : []),
        ]}
        empty={
          mayCreate
            ? 'There is no API key yet. Make one with “New API key”.'
            : 'There is no API key yet. An owner, admin or developer makes one.'
        }
      />
      {open?.act === 'create' && <CreateKeyModal onMade={show} onClose={close} />}
      {open?.act === 'roll' && <RollKeyModal apiKey={open.apiKey} onMade={show} onClose={close} />}
      {open?.act === 'revoke' && <RevokeModal apiKey={open.apiKey} onClose={close} />}
      <SecretModal secret={secret} onClose={() => setSecret(null)} />
    </Page>
  );
}

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    title: 'Name',
    cell: ({ name, hint }) => (
      <>
        <MerchantText text={name} />
        <Hint>
          <code>{hint}</code>
        </Hint>
      </>
    ),
  },
  {
    title: 'Scopes',
    cell: ({ scopes, allowed_addresses: addresses }) => (
      <>
        {scopes.map((scope) => (
          <div key={scope}>{scope}</div>
        ))}
        {addresses !== null && <Hint>only from {addresses.join(', ')}</Hint>}
      </>
    ),
  },
  { title: 'State', cell: (apiKey) => <State apiKey={apiKey} /> },
  { title: 'Last used', cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Moment at={last_used_at} />) },
  {
    title: 'Made',
    cell: ({ created_at, created_by }) => (
      <>
        <Moment at={created_at} />
        <Hint>
          by <Actor person={created_by} />
        </Hint>
      </>
    ),
  },
];

function State({ apiKey }: { readonly apiKey: ApiKey }) {
  const { state, revoked_at, expires_at, replaced_by } = apiKey;
  const end = revoked_at ?? expires_at;
  return (
    <>
      <StateBadge state={state} />
      {end !== null && (
        <Hint>
          {state === 'active' ? 'until' : 'since'} <Moment at={end} />
        </Hint>
      )}
      {replaced_by !== null && <Hint>rolled to another key</Hint>}
    </>
  );
}

function Acts({ apiKey, onOpen }: { readonly apiKey: ApiKey; readonly onOpen: (open: Open) => void }) {
  const session = useSession();
  if (apiKey.state !== 'active' || !mayHandle(session, apiKey.scopes)) return null;
  return (
    <Group gap="xs">
      {/* Only its replacement can be rolled further. */}
      {apiKey.replaced_by === null && (
        <RowButton verb="Roll" object={apiKey.name} onClick={() => onOpen({ act: 'roll', apiKey })} />
      )}
      <RowButton verb="Revoke" object={apiKey.name} onClick={() => onOpen({ act: 'revoke', apiKey })} />
    </Group>
  );
}

function RevokeModal({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const { id, name, hint, last_used_at } = apiKey;
  return (
    <ConfirmModal
      title={
        <>
          Revoke “<MerchantText text={name} />
          ”?
        </>
      }
      verb="Revoke it"
      isDestructive
      operationId="revokeApiKey"
      act={() => answerOf(api.DELETE('/v1/console/keys/{id}', { params: { path: { id } } }))}
      onClose={onClose}
    >
      <Stack gap="xs">
        <Text>
          The key {hint} stops working at once, and cannot be restored. To replace it without a gap, roll it instead.
        </Text>
        <Text>Last used: {last_used_at === null ? 'never' : <Moment at={last_used_at} />}</Text>
      </Stack>
    </ConfirmModal>
  );
}
