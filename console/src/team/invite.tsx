// Inviting a person: who, and with which roles; then the link, shown once.
import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../api/api-error.ts';
import { answerOf, api, type Schemas } from '../api/client.ts';
import type { Role } from '../session/session.ts';
import { useStepUp } from '../session/step-up.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { ModalActions } from '../ui/modal-actions.tsx';
import type { Secret } from '../ui/secret-modal.tsx';
import { submitting, useAct } from '../ui/use-act.ts';
import { useRefresh } from '../ui/use-refresh.ts';
import { RoleChoice } from './roles.tsx';

type InviteModalProps = { readonly onInvited: (secret: Secret) => void; readonly onClose: () => void };

export function InviteModal({ onInvited, onClose }: InviteModalProps) {
  const stepUp = useStepUp();
  const refresh = useRefresh();
  const [email, setEmail] = useState('');
  const [roles, setRoles] = useState<Role[]>([]);
  const invite = useAct(async () => {
    await stepUp('createInvitation');
    try {
      const body = { email: email.trim(), roles };
      onInvited(linkOf(await answerOf(api.POST('/v1/console/invitations', { body }))));
    } finally {
      void refresh();
    }
  });
  const byParam = invite.error instanceof ApiError ? invite.error.byParam : {};
  return (
    <Modal opened onClose={onClose} title="Invite a person" centered closeOnClickOutside={false}>
      <form onSubmit={submitting(invite)}>
        <Stack>
          <TextInput
            type="email"
            label="E-mail"
            description="Nothing is sent to this address: you hand over the link yourself. An open invitation for the same address is withdrawn."
            required
            autoComplete="off"
            data-autofocus
            value={email}
            error={byParam['email']}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          <RoleChoice chosen={roles} before={[]} error={byParam['roles']} onChange={setRoles} />
          <Text size="sm" c="dimmed">
            If there is a second owner or admin, they must approve the invitation of an owner, admin, maker or approver
            before it can be used.
          </Text>
          <ErrorNotice error={invite.error} />
          <ModalActions
            act={invite}
            verb="Invite them"
            onBack={onClose}
            isDisabled={email.trim() === '' || roles.length === 0}
          />
        </Stack>
      </form>
    </Modal>
  );
}

function linkOf({ email, url, approval, waits_for, needs_second_person }: Schemas['MadeInvitation']): Secret {
  const waiting = needs_second_person
    ? ' It cannot be used before a second person approves it, and no member can: invite a second owner or admin first.'
    : ` It cannot be used before one of these approves it: ${waits_for.map(({ email: address }) => address).join(', ')}.`;
  return {
    title: `The invitation of ${email}`,
    what: 'link',
    text: url,
    hint:
      'Hand it to the person yourself: anyone who has it can take their place. It works once, within seven days.' +
      (approval === 'waiting' ? waiting : ''),
  };
}
