// A proposed change of a member: what changes, and its approval, rejection or withdrawal.
import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { ConfirmModal } from '../ui/confirm-modal.tsx';
import { Person } from '../ui/person.tsx';
import { DecisionButtons, Proposal, WaitingFor } from './proposal.tsx';
import { roleNames } from './roles.tsx';

type MemberChange = Schemas['MemberChange'];
type Act = 'approve' | 'reject' | 'withdraw';

export function WaitingChange({ change }: { readonly change: MemberChange }) {
  const session = useSession();
  const [open, setOpen] = useState<Act | null>(null);
  const { member, proposed_by, waits_for, roles_after } = change;
  const selfId = session.person.id;
  const isOwn = proposed_by.id === selfId;
  const mayApprove = waits_for.some(({ id }) => id === selfId);
  const mayReject = hasRole(session, 'admin') && !isOwn && member.id !== selfId;
  return (
    <Proposal
      label={roles_after === null ? `Removal of ${member.email}` : `Roles of ${member.email}`}
      proposedBy={proposed_by}
      createdAt={change.created_at}
      expiresAt={change.expires_at}
      waitsFor={<WaitingFor people={waits_for} selfId={selfId} />}
      needsSecondPerson={change.needs_second_person}
      acts={
        <>
          <DecisionButtons mayApprove={mayApprove} mayReject={mayReject} onChoose={setOpen} />
          {isOwn && (
            <Button variant="default" onClick={() => setOpen('withdraw')}>
              Withdraw…
            </Button>
          )}
        </>
      }
    >
      <What change={change} />
      {open !== null && <DecisionModal act={open} change={change} onClose={() => setOpen(null)} />}
    </Proposal>
  );
}

function What({ change: { member, roles_before: before, roles_after: after } }: { readonly change: MemberChange }) {
  if (after === null) {
    return (
      <div>
        <Text fw={600}>To be removed</Text>
        <Person person={member} />
        <Text>Now: {roleNames(before)}</Text>
      </div>
    );
  }
  return (
    <div>
      <Text fw={600}>To have other roles</Text>
      <Person person={member} />
      <Text>Now: {roleNames(before)}</Text>
      <Text>Then: {roleNames(after)}</Text>
    </div>
  );
}

const WORDS: Readonly<Record<Act, { title: string; verb: string; operationId: string; hint: string }>> = {
  approve: {
    title: 'Approve this change?',
    verb: 'Approve it',
    operationId: 'approveMemberChange',
    hint: 'It applies at once.',
  },
  reject: {
    title: 'Reject this change?',
    verb: 'Reject it',
    operationId: 'rejectMemberChange',
    hint: 'The roles stay unchanged.',
  },
  withdraw: {
    title: 'Withdraw your proposal?',
    verb: 'Withdraw it',
    operationId: 'withdrawMemberChange',
    hint: 'The roles stay unchanged.',
  },
};

type DecisionModalProps = { readonly act: Act; readonly change: MemberChange; readonly onClose: () => void };

function DecisionModal({ act, change, onClose }: DecisionModalProps) {
  const { title, verb, operationId, hint } = WORDS[act];
  return (
    <ConfirmModal
      title={title}
      verb={verb}
      isDestructive={act === 'approve' && change.roles_after === null}
      operationId={operationId}
      act={() => decide(act, change.id)}
      onClose={onClose}
    >
      <What change={change} />
      <Text size="sm">
        Proposed by <Person person={change.proposed_by} />. {hint}
      </Text>
    </ConfirmModal>
  );
}

function decide(act: Act, id: string): Promise<unknown> {
  const params = { path: { id } };
  if (act === 'approve') return answerOf(api.POST('/v1/console/member-changes/{id}/approve', { params }));
  if (act === 'reject') return answerOf(api.POST('/v1/console/member-changes/{id}/reject', { params }));
  return answerOf(api.DELETE('/v1/console/member-changes/{id}', { params }));
}
