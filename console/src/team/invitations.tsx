// The open invitations: approval or rejection by a second person, and withdrawal.
import { Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { ConfirmModal } from '../ui/modals.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { RowButton } from '../ui/row-button.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import type { Secret } from '../ui/secret-modal.tsx';
import { Actor } from '../ui/person.tsx';
import { DecisionButtons, Proposal, WaitingFor } from './proposal.tsx';
import { roleNames } from './roles.tsx';

type Invitation = Schemas['Invitation'];
type WaitingInvitationProps = { readonly invitation: Invitation; readonly onSecret: (secret: Secret) => void };

export function WaitingInvitation({ invitation, onSecret }: WaitingInvitationProps) {
  const session = useSession();
  const [open, setOpen] = useState<'approve' | 'reject' | null>(null);
  const { email, roles, created_by, waits_for } = invitation;
  const selfId = session.person.id;
  const close = () => setOpen(null);
  const mayApprove = waits_for.some(({ id }) => id === selfId);
  const mayReject = hasRole(session, 'admin') && created_by?.id !== selfId;
  return (
    <Proposal
      label={`Invitation of ${email}`}
      proposedBy={created_by}
      createdAt={invitation.created_at}
      expiresAt={invitation.expires_at}
      waitsFor={<WaitingFor people={waits_for} selfId={selfId} />}
      needsSecondPerson={invitation.needs_second_person}
      acts={<DecisionButtons mayApprove={mayApprove} mayReject={mayReject} onChoose={setOpen} />}
    >
      <div>
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {email} is invited
        </Text>
        <Text>As: {roleNames(roles)}</Text>
      </div>
      {open === 'approve' && <ApproveModal invitation={invitation} onSecret={onSecret} onClose={close} />}
      {open === 'reject' && <EndModal end="reject" invitation={invitation} onClose={close} />}
    </Proposal>
  );
}

type ActModalProps = { readonly invitation: Invitation; readonly onClose: () => void };

function ApproveModal({ invitation, onSecret, onClose }: ActModalProps & Pick<WaitingInvitationProps, 'onSecret'>) {
  const { id, email, roles, created_by } = invitation;
  const approve = async () => {
    const { approval_token } = await answerOf(
      api.POST('/v1/console/invitations/{id}/approve', { params: { path: { id } } }),
    );
    onSecret({
      title: `The invitation of ${email} is approved`,
      what: 'approval token',
      text: approval_token,
      hint:
        'Hand it to the person yourself, once you have verified who they are. They need it in addition to ' +
        `the link that ${created_by?.email ?? 'the service'} has, and enter it on the page that the link opens.`,
    });
  };
  return (
    <ConfirmModal
      title="Approve this invitation?"
      verb="Approve it"
      operationId="approveInvitation"
      act={approve}
      onClose={onClose}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        {email} becomes: {roleNames(roles)}. Invited by <Actor person={created_by} />.
      </Text>
      <Text size="sm">
        Make sure first that the person is who they are said to be. You are then shown a token for them, once.
      </Text>
    </ConfirmModal>
  );
}

const ENDS = {
  reject: {
    title: 'Reject this invitation?',
    verb: 'Reject it',
    operationId: 'rejectInvitation',
    what: 'can never be used',
    act: (id: string) => answerOf(api.POST('/v1/console/invitations/{id}/reject', { params: { path: { id } } })),
  },
  withdraw: {
    title: 'Withdraw the invitation?',
    verb: 'Withdraw it',
    operationId: 'withdrawInvitation',
    what: 'can no longer be used',
    act: (id: string) => answerOf(api.DELETE('/v1/console/invitations/{id}', { params: { path: { id } } })),
  },
};

type EndModalProps = ActModalProps & { readonly end: keyof typeof ENDS };

function EndModal({ invitation: { id, email }, end, onClose }: EndModalProps) {
  const { what, act, ...texts } = ENDS[end];
  return (
    <ConfirmModal {...texts} isDestructive act={() => act(id)} onClose={onClose}>
      <Text style={{ overflowWrap: 'anywhere' }}>
        The link of {email} {what}.
      </Text>
    </ConfirmModal>
  );
}

export function InvitationList({ invitations }: { readonly invitations: readonly Invitation[] }) {
  const session = useSession();
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null);
  const columns: readonly Column<Invitation>[] = [
    { title: 'E-mail', cell: ({ email }) => <MerchantText text={email} /> },
    { title: 'Roles', cell: ({ roles }) => roleNames(roles) },
    { title: 'Invited by', cell: ({ created_by }) => <Actor person={created_by} /> },
    { title: 'Approval', cell: (invitation) => <Approval invitation={invitation} /> },
    { title: 'Expires', cell: ({ expires_at }) => <Moment at={expires_at} /> },
    ...(hasRole(session, 'admin')
      ? [
          {
            title: 'Acts',
            cell: (invitation: Invitation) =>
              mayWithdraw(invitation) && (
                <RowButton
                  verb="Withdraw"
                  object={`the invitation of ${invitation.email}`}
                  onClick={() => setWithdrawn(invitation)}
                />
              ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Rows
        label="Open invitations"
        columns={columns}
        rows={invitations}
        empty="There are no open invitations. An owner or admin invites people with a link that they hand over in person."
      />
      {withdrawn !== null && <EndModal end="withdraw" invitation={withdrawn} onClose={() => setWithdrawn(null)} />}
    </>
  );
}

/** No member withdraws an invitation of an owner or admin by the service. */
function mayWithdraw({ created_by, roles }: Invitation): boolean {
  return created_by !== null || !(roles.includes('owner') || roles.includes('admin'));
}

function Approval({ invitation: { approval, approved_by } }: { readonly invitation: Invitation }) {
  if (approval === 'not_needed') return 'not needed';
  if (approval === 'waiting') return 'waits';
  return (
    <>
      by <Actor person={approved_by} />
    </>
  );
}
