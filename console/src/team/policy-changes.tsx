// A proposed change of the policy: each rule as it is and as it would be, and its approval, rejection or withdrawal.
import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { ConfirmModal } from '../ui/confirm-modal.tsx';
import { Person } from '../ui/person.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { DecisionButtons, Proposal } from './proposal.tsx';
import { ALL_RULES, formatRule, RULES, type PolicyValues, type Rule } from './rules.ts';

type PolicyChange = Schemas['PolicyChange'];
type Act = 'approve' | 'reject' | 'withdraw';
type WaitingProps = { readonly policy: PolicyValues; readonly change: PolicyChange };

export function WaitingPolicyChange({ policy, change }: WaitingProps) {
  const session = useSession();
  const [open, setOpen] = useState<Act | null>(null);
  const isOwn = change.proposed_by.id === session.person.id;
  const isAdmin = hasRole(session, 'admin');
  const mayDecide = isAdmin && !isOwn;
  return (
    <Proposal
      label={`Change of the policy by ${change.proposed_by.email}`}
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
      acts={
        <>
          <DecisionButtons mayApprove={mayDecide} mayReject={mayDecide} onChoose={setOpen} />
          {isOwn && isAdmin && (
            <Button variant="default" onClick={() => setOpen('withdraw')}>
              Withdraw…
            </Button>
          )}
        </>
      }
    >
      <Differences policy={policy} change={change} />
      {open !== null && <DecisionModal act={open} policy={policy} change={change} onClose={() => setOpen(null)} />}
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

const WORDS: Readonly<Record<Act, { title: string; verb: string; operationId: string; hint: string }>> = {
  approve: {
    title: 'Approve this change of the policy?',
    verb: 'Approve it',
    operationId: 'approvePolicyChange',
    hint: 'It applies at once.',
  },
  reject: {
    title: 'Reject this change of the policy?',
    verb: 'Reject it',
    operationId: 'rejectPolicyChange',
    hint: 'The policy stays as it is.',
  },
  withdraw: {
    title: 'Withdraw your proposal?',
    verb: 'Withdraw it',
    operationId: 'withdrawPolicyChange',
    hint: 'The policy stays as it is.',
  },
};

type DecisionModalProps = WaitingProps & { readonly act: Act; readonly onClose: () => void };

function DecisionModal({ act, policy, change, onClose }: DecisionModalProps) {
  const { title, verb, operationId, hint } = WORDS[act];
  return (
    <ConfirmModal
      title={title}
      verb={verb}
      operationId={operationId}
      act={() => decide(act, change.id)}
      onClose={onClose}
    >
      <Differences policy={policy} change={change} />
      <Text size="sm">
        Proposed by <Person person={change.proposed_by} />. {hint}
      </Text>
    </ConfirmModal>
  );
}

function decide(act: Act, id: string): Promise<unknown> {
  const params = { path: { id } };
  if (act === 'approve') return answerOf(api.POST('/v1/console/policy/changes/{id}/approve', { params }));
  if (act === 'reject') return answerOf(api.POST('/v1/console/policy/changes/{id}/reject', { params }));
  return answerOf(api.DELETE('/v1/console/policy/changes/{id}', { params }));
}
