// The list of members, and the acts on each: other roles, the end of their sessions, removal.
import { Badge, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession, type Role } from '../session/session.ts';
import { ConfirmModal, ModalActions } from '../ui/modals.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Hint } from '../ui/page.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { Person } from '../ui/person.tsx';
import { RowButton } from '../ui/row-button.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { submitting, useStepUpAct } from '../ui/use-act.ts';
import { RoleChoice, roleNames } from './roles.tsx';

type Member = Schemas['ListedMember'];
type Act = 'roles' | 'sessions' | 'remove';

type MemberListProps = {
  readonly members: readonly Member[];
  /** Reports the outcome of an act. */
  readonly onNotice: (text: string) => void;
};

export function MemberList({ members, onNotice }: MemberListProps) {
  const session = useSession();
  const [open, setOpen] = useState<{ readonly act: Act; readonly member: Member } | null>(null);
  const close = () => setOpen(null);
  const done = (text: string) => {
    close();
    onNotice(text);
  };
  const columns: readonly Column<Member>[] = [
    {
      title: 'Name',
      cell: ({ id, name, email }) => (
        <>
          <Group gap="xs">
            <MerchantText text={name} />
            {id === session.person.id && (
              <Badge variant="default" tt="none" miw="max-content">
                you
              </Badge>
            )}
          </Group>
          <Hint>
            <MerchantText text={email} />
          </Hint>
        </>
      ),
    },
    { title: 'Roles', cell: ({ roles }) => roleNames(roles) },
    { title: 'Second factor', cell: ({ has_second_factor: has }) => (has ? 'enrolled' : <Text c="orange">none</Text>) },
    { title: 'Member since', cell: ({ created_at }) => <Moment at={created_at} /> },
    ...(hasRole(session, 'admin')
      ? [
          {
            title: 'Acts',
            cell: (member: Member) => <Acts member={member} onOpen={(act) => setOpen({ act, member })} />,
          },
        ]
      : []),
  ];
  return (
    <>
      <Rows label="Members" columns={columns} rows={members} empty="There is nobody." />
      {open?.act === 'roles' && <RolesModal member={open.member} onDone={done} onClose={close} />}
      {open?.act === 'sessions' && <SessionsModal member={open.member} onDone={done} onClose={close} />}
      {open?.act === 'remove' && <RemoveModal member={open.member} onDone={done} onClose={close} />}
    </>
  );
}

function Acts({ member, onOpen }: { readonly member: Member; readonly onOpen: (act: Act) => void }) {
  const isSelf = useSession().person.id === member.id;
  const acts: readonly (readonly [Act, string])[] = [
    ['roles', 'Change roles'],
    ...(isSelf ? [] : [['sessions', 'End sessions'] as const]),
    ['remove', isSelf ? 'Leave' : 'Remove'],
  ];
  return (
    <Group gap="xs">
      {acts.map(([act, label]) => (
        <RowButton key={act} verb={label} object={`of ${member.email}`} onClick={() => onOpen(act)} />
      ))}
    </Group>
  );
}

type ActModalProps = {
  readonly member: Member;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
};

function RolesModal({ member, onDone, onClose }: ActModalProps) {
  const { id, email, roles: before } = member;
  const [roles, setRoles] = useState<Role[]>(before);
  const isSame = roleNames(roles) === roleNames(before);
  const change = useStepUpAct('changeMember', async () => {
    const body = { roles };
    const changed = await answerOf(api.PATCH('/v1/console/members/{id}', { body, params: { path: { id } } }));
    onDone(proposalNotice(changed) ?? `${email} now has these roles: ${roleNames(roles)}.`);
  });
  return (
    <Modal opened onClose={onClose} title="Change roles" centered>
      <form onSubmit={submitting(change)}>
        <Stack>
          <Person person={member} />
          <RoleChoice chosen={roles} before={before} error={change.byParam['roles']} onChange={setRoles} />
          <Text size="sm" c="dimmed">
            Making somebody else an owner, admin, maker or approver, or removing owner or admin, waits for a second
            owner or admin. All other changes apply at once.
          </Text>
          <ErrorNotice error={change.error} />
          <ModalActions act={change} verb="Change them" onBack={onClose} isDisabled={isSame || roles.length === 0} />
        </Stack>
      </form>
    </Modal>
  );
}

function SessionsModal({ member, onDone, onClose }: ActModalProps) {
  const { id, email } = member;
  return (
    <ConfirmModal
      title="End these sessions?"
      verb="End them"
      isDestructive
      operationId="endMemberSessions"
      act={async () => {
        await answerOf(api.DELETE('/v1/console/members/{id}/sessions', { params: { path: { id } } }));
        onDone(`The sessions of ${email} have ended.`);
      }}
      onClose={onClose}
    >
      <Person person={member} />
      <Text>
        They are logged out here on every device, and can log in again. If somebody else has their password, remove them
        too.
      </Text>
    </ConfirmModal>
  );
}

function RemoveModal({ member, onDone, onClose }: ActModalProps) {
  const { id, email, roles } = member;
  const isSelf = useSession().person.id === id;
  return (
    <ConfirmModal
      title={isSelf ? 'Leave this merchant?' : 'Remove this member?'}
      verb={isSelf ? 'Leave' : 'Remove them'}
      isDestructive
      operationId="removeMember"
      act={async () => {
        const removed = await answerOf(api.DELETE('/v1/console/members/{id}', { params: { path: { id } } }));
        onDone(proposalNotice(removed) ?? `${email} is no longer a member.`);
      }}
      onClose={onClose}
    >
      <Person person={member} />
      <Text>
        {roleNames(roles)}: the sessions here end at once, and API keys that {isSelf ? 'you' : 'they'} created create no
        more payouts.
      </Text>
      {!isSelf && <Text size="sm">The removal of an owner or admin waits for a second person.</Text>}
    </ConfirmModal>
  );
}

/** Who must approve an act that needs a second person; null: it is done. */
function proposalNotice(answer: Schemas['Member'] | Schemas['MemberChange'] | undefined): string | null {
  if (answer === undefined || !('waits_for' in answer)) return null;
  if (answer.needs_second_person) {
    return 'It is proposed, but no member can approve it: invite a second owner or admin first.';
  }
  return `It is proposed, and applies once one of these approves it: ${answer.waits_for.map(({ email }) => email).join(', ')}.`;
}
