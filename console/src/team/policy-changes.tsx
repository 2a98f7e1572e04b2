// A proposed change of the policy: each rule as it is and as it would be, and its approval or rejection.
import { Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { ConfirmModal } from '../ui/confirm-modal.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { DecisionButtons, Proposal } from './proposal.tsx';
import { ALL_RULES, formatRule, RULES, type PolicyValues, type Rule } from './rules.ts';

type PolicyChange = Schemas['PolicyChange'];
type WaitingProps = { readonly policy: PolicyValues; readonly change: PolicyChange };

export function WaitingPolicyChange({ policy, change }: WaitingProps) {
  const session = useSession();
  const [open, setOpen] = useState<'approve' | 'reject' | null>(null);
  const isOwn = change.proposed_by.id === session.person.id;
  const mayDecide = hasRole(session, 'admin') && !isOwn;
  return (
    <Proposal
      label={`Change of the policy by ${change.proposed_by.name}`}
      proposedBy={change.proposed_by}
      createdAt={change.created_at}
      expiresAt={change.expires_at}
      waitsFor={
        isOwn
          ? 'It waits for another owner or admin. Another change of yours takes its place.'
          : mayDecide
            ? 'It waits for you or another owner or admin.'
            : 'It waits for an owner or admin.'
      }
      needsSecondPerson={false}
      acts={<DecisionButtons mayApprove={mayDecide} mayReject={mayDecide} onChoose={setOpen} />}
    >
      <Differences policy={policy} change={change} />
      {open !== null && <DecisionModal decision={open} policy={policy} change={change} onClose={() => setOpen(null)} />}
    </Proposal>
  );
}

function Differences({ policy, change: { changes } }: WaitingProps) {
  const { currency } = useSession().merchant;
  const changed = ALL_RULES.filter((rule) => changes[rule] !== undefined);
  const columns: readonly Column<{ readonly id: Rule }>[] = [
    { title: 'Rule', cell: ({ id }) => RULES[id].name },
    { title: 'Now', cell: ({ id }) => formatRule(id, policy[id], currency) },
    {
      title: 'Then',
      cell: ({ id }) => (
        <Text inherit fw={600}>
          {formatRule(id, changes[id], currency)}
        </Text>
      ),
    },
  ];
  return <Rows label="What changes" columns={columns} rows={changed.map((id) => ({ id }))} empty="" />;
}

type DecisionModalProps = WaitingProps & {
  readonly decision: 'approve' | 'reject';
  readonly onClose: () => void;
};

function DecisionModal({ decision, policy, change, onClose }: DecisionModalProps) {
  const isApproval = decision === 'approve';
  const params = { path: { id: change.id } };
  const decide = () =>
    isApproval
      ? answerOf(api.POST('/v1/console/policy/changes/{id}/approve', { params }))
      : answerOf(api.POST('/v1/console/policy/changes/{id}/reject', { params }));
  return (
    <ConfirmModal
      title={isApproval ? 'Approve this change of the policy?' : 'Reject this change of the policy?'}
      verb={isApproval ? 'Approve it' : 'Reject it'}
      operationId={isApproval ? 'approvePolicyChange' : 'rejectPolicyChange'}
      act={decide}
      onClose={onClose}
    >
      <Differences policy={policy} change={change} />
      <Text size="sm">
        Proposed by {change.proposed_by.name}. {isApproval ? 'It counts at once.' : 'The policy stays as it is.'}
      </Text>
    </ConfirmModal>
  );
}
