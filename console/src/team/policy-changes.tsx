// A proposed change of the policy: each rule before and after, and its approval, rejection or withdrawal.
import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { answerOf, api, type Schemas } from '../api/client.ts';
import { hasRole, useSession } from '../session/session.ts';
import { Rows, type Column } from '../ui/rows.tsx';
import { DecisionButtons, Proposal, ProposalModal, type ProposalAct } from './proposal.tsx';
import { ALL_RULES, formatRule, RULES, type PolicyValues, type Rule } from './rules.ts';

type PolicyChange = Schemas['PolicyChange'];
type WaitingProps = { readonly policy: PolicyValues; readonly change: PolicyChange };

export function WaitingPolicyChange({ policy, change }: WaitingProps) {
  const session = useSession();
  const [open, setOpen] = useState<ProposalAct | null>(null);
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
      {open !== null && (
        <ProposalModal
          act={open}
          noun="PolicyChange"
          what="this change of the policy"
          otherwise="The policy stays as it is."
          proposedBy={change.proposed_by}
          decide={() => decide(open, change.id)}
          onClose={() => setOpen(null)}
        >
          <Differences policy={policy} change={change} />
        </ProposalModal>
      )}
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

function decide(act: ProposalAct, id: string): Promise<unknown> {
  const params = { path: { id } };
  if (act === 'approve') return answerOf(api.POST('/v1/console/policy/changes/{id}/approve', { params }));
  if (act === 'reject') return answerOf(api.POST('/v1/console/policy/changes/{id}/reject', { params }));
  return answerOf(api.DELETE('/v1/console/policy/changes/{id}', { params }));
}
