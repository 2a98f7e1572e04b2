// Invites a person with roles, then shows the link once.
import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import type { Role } from '../session/session.ts';
import { FormModal } from '../ui/modals.tsx';
import type { Secret } from '../ui/secret-modal.tsx';
import { useStepUpAct } from '../ui/use-act.ts';
import { RoleChoice } from './roles.tsx';

type InviteModalProps = { readonly onInvited: (secret: Secret) => void; readonly onClose: () => void };

export function InviteModal({ onInvited, onClose }: InviteModalProps) {
  const [email, setEmail] = useState('');
  const [roles, setRoles] = useState<Role[]>([]);
  const invite = useStepUpAct('createInvitation', async () => {
    const body = { email: email.trim(), roles };
    onInvited(linkOf(await answerOf(api.POST('/v1/console/invitations', { body }))));
  });
  return (
    <FormModal
      title="Invite a person"
      act={invite}
      verb="Invite them"
      isDisabled={email.trim() === '' || roles.length === 0}
      onClose={onClose}
    >
      <TextInput
        type="email"
        label="E-mail"
        description="Nothing is sent to this address: you hand over the link yourself. An open invitation for the same address is withdrawn."
        required
        autoComplete="off"
        data-autofocus
        value={email}
        error={invite.byParam['email']}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <RoleChoice chosen={roles} before={[]} error={invite.byParam['roles']} onChange={setRoles} />
      <Text size="sm" c="dimmed">
        If there is a second owner or admin, they must approve the invitation of an owner, admin, maker or approver
        before it can be used.
      </Text>
    </FormModal>
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
