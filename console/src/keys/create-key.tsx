// Creates an API key: its name, scopes, expiry and allowed addresses.
import { Button, Checkbox, Group, Modal, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { Field } from '../ui/field.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { MomentInput } from '../ui/moment.tsx';
import type { Secret } from '../ui/secret-modal.tsx';
import { submitting, useStepUpAct } from '../ui/use-act.ts';
import { ALL_SCOPES, mayHandle, SCOPE_WORDS, type Scope } from './scopes.ts';

type CreateKeyModalProps = { readonly onMade: (secret: Secret) => void; readonly onClose: () => void };

export function CreateKeyModal({ onMade, onClose }: CreateKeyModalProps) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [expiresAt, setExpiresAt] = useState('');
  const [addresses, setAddresses] = useState('');
  const create = useStepUpAct('createApiKey', async () => {
    const body: Schemas['CreateApiKey'] = {
      name: name.trim(),
      scopes: [...scopes],
      ...(expiresAt !== '' && { expires_at: expiresAt }),
      ...allowedFrom(addresses),
    };
    onMade(secretOf(await answerOf(api.POST('/v1/console/keys', { body }))));
  });
  return (
    <Modal opened onClose={onClose} title="New API key" centered size="lg" closeOnClickOutside={false}>
      <form onSubmit={submitting(create)}>
        <Stack>
          <Field
            label="Name"
            description="Tells people which key this is, such as “Shop server”."
            required
            maxLength={100}
            autoComplete="off"
            data-autofocus
            value={name}
            error={create.byParam['name']}
            onText={setName}
          />
          <Scopes chosen={scopes} error={create.byParam['scopes']} onChange={setScopes} />
          <MomentInput
            label="Ends"
            description={
              scopes.includes('payouts:write')
                ? 'If empty: in 90 days. A key that makes payouts is valid for at most a year.'
                : 'If empty: when somebody revokes it.'
            }
            value={expiresAt}
            error={create.byParam['expires_at']}
            onChange={setExpiresAt}
          />
          <Textarea
            label="Works only from"
            description="Addresses such as 203.0.113.7 or blocks such as 203.0.113.0/24, one a line. If empty: from anywhere."
            rows={3}
            autoComplete="off"
            value={addresses}
            error={create.byParam['allowed_addresses'] ?? startingWith(create.byParam, 'allowed_addresses')}
            onChange={({ currentTarget }) => setAddresses(currentTarget.value)}
          />
          <ErrorNotice error={create.error} />
          <Group justify="flex-end">
            <Button type="submit" loading={create.isBusy} disabled={name.trim() === '' || scopes.length === 0}>
              Make the key
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function allowedFrom(text: string): Pick<Schemas['CreateApiKey'], 'allowed_addresses'> {
  const addresses = text.split(/[\s,]+/).filter((address) => address !== '');
  return addresses.length > 0 ? { allowed_addresses: addresses } : {};
}

type ScopesProps = {
  readonly chosen: readonly Scope[];
  readonly error: string | undefined;
  readonly onChange: (chosen: readonly Scope[]) => void;
};

function Scopes({ chosen, error, onChange }: ScopesProps) {
  const session = useSession();
  return (
    <Checkbox.Group
      label="Scopes"
      description="Give the key only the scopes that its server needs."
      required
      error={error}
      value={[...chosen]}
      onChange={(values) => onChange(ALL_SCOPES.filter((scope) => values.includes(scope)))}
    >
      <Stack gap="xs" mt="xs">
        {ALL_SCOPES.map((scope) => {
          const isAllowed = mayHandle(session, [scope]);
          return (
            <Checkbox
              key={scope}
              value={scope}
              label={SCOPE_WORDS[scope]}
              description={
                isAllowed ? scope : `${scope}: only owners and admins can give this scope, because it moves money out.`
              }
              disabled={!isAllowed}
            />
          );
        })}
      </Stack>
    </Checkbox.Group>
  );
}

/** The first error of an entry of this list, which the API names as `list.0` or `list[0]`. */
function startingWith(byParam: Readonly<Record<string, string>>, param: string): string | undefined {
  return Object.entries(byParam).find(([name]) => name.startsWith(param))?.[1];
}

/** The key itself, for its creator. */
export function secretOf({ name, key }: Schemas['MadeApiKey']): Secret {
  return {
    title: `The key “${name}” is made`,
    what: 'API key',
    text: key,
    hint: 'Your server sends it in the header “Authorization: Bearer …”. Never put it in an app, a page or a repository.',
  };
}
