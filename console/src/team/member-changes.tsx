// A proposed change of a member, and its approval, rejection or withdrawal.
import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { Person } from '../ui/person.tsx';
import { DecisionButtons, Proposal, ProposalModal, WaitingFor, type ProposalAct } from './proposal.tsx';
import { roleNames } from './roles.tsx';

type MemberChange = Schemas['MemberChange'];

export function WaitingChange({ change }: { readonly change: MemberChange }) {
  const session = useSession();
  const [open, setOpen] = useState<ProposalAct | null>(null);
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
      {open !== null && (
        <ProposalModal
          act={open}
          noun="MemberChange"
          what="this change"
          otherwise="The roles stay unchanged."
          proposedBy={proposed_by}
          isDestructive={open === 'approve' && roles_after === null}
          decide={() => decide(open, change.id)}
          onClose={() => setOpen(null)}
        >
          <What change={change} />
        </ProposalModal>
      )}
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

function decide(act: ProposalAct, id: string): Promise<unknown> {
  const params = { path: { id } };
  if (act === 'approve') return answerOf(api.POST('/v1/console/member-changes/{id}/approve', { params }));
  if (act === 'reject') return answerOf(api.POST('/v1/console/member-changes/{id}/reject', { params }));
  return answerOf(api.DELETE('/v1/console/member-changes/{id}', { params }));
}
