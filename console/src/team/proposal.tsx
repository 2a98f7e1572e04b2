// A pending proposal of any kind: its proposer, who may approve it, its expiry, and its acts.
import { Alert, Button, Card, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { ConfirmModal } from '../ui/modals.tsx';
import { Moment } from '../ui/moment.tsx';
import { Actor, People, Person } from '../ui/person.tsx';

type ProposalProps = {
  readonly label: string;
  /** Null: the service. */
  readonly proposedBy: Schemas['NamedPerson'] | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Who may approve it, in words. */
  readonly waitsFor: ReactNode;
  readonly needsSecondPerson: boolean;
  /** The acts of this person; empty: none. */
  readonly acts: ReactNode;
  readonly children: ReactNode;
};

export function Proposal(props: ProposalProps) {
  const { label, proposedBy, createdAt, expiresAt, waitsFor, needsSecondPerson, acts, children } = props;
  return (
    <Card withBorder component="section" aria-label={label}>
      <Stack gap="xs">
        {children}
        <Text size="sm" c="dimmed">
          Proposed by <Actor person={proposedBy} />, <Moment at={createdAt} />. It expires <Moment at={expiresAt} />.
        </Text>
        {needsSecondPerson ? (
          <Alert color="orange" title="No member can approve it">
            Two people must agree to this, and there is no second person who can. Invite a second owner or admin first.
          </Alert>
        ) : (
          <Text size="sm" component="div">
            {waitsFor}
          </Text>
        )}
        <Group gap="xs">{acts}</Group>
      </Stack>
    </Card>
  );
}

type DecisionButtonsProps = {
  readonly mayApprove: boolean;
  readonly mayReject: boolean;
  readonly onChoose: (decision: 'approve' | 'reject') => void;
};

export function DecisionButtons({ mayApprove, mayReject, onChoose }: DecisionButtonsProps) {
  return (
    <>
      {mayApprove && <Button onClick={() => onChoose('approve')}>Approve…</Button>}
      {mayReject && (
        <Button variant="default" onClick={() => onChoose('reject')}>
          Reject…
        </Button>
      )}
    </>
  );
}

type WaitingForProps = { readonly people: readonly Schemas['NamedPerson'][]; readonly selfId: string };

/** `It waits for Grace or Henry.` */
export function WaitingFor({ people, selfId }: WaitingForProps) {
  if (people.some(({ id }) => id === selfId)) return 'It waits for you.';
  return (
    <>
      It waits for <People people={people} />.
    </>
  );
}

export type ProposalAct = 'approve' | 'reject' | 'withdraw';

const VERBS = { approve: 'Approve', reject: 'Reject', withdraw: 'Withdraw' } as const;

type ProposalModalProps = {
  readonly act: ProposalAct;
  /** Its schema in the API: the names of the operations end with it. */
  readonly noun: 'MemberChange' | 'PolicyChange';
  /** Such as “this change”. */
  readonly what: string;
  /** The consequence of a rejection. */
  readonly otherwise: string;
  readonly proposedBy: Schemas['NamedPerson'];
  readonly isDestructive?: boolean;
  readonly decide: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** The confirmation before a proposed change is approved, rejected or withdrawn. */
export function ProposalModal(props: ProposalModalProps) {
  const { act, noun, what, otherwise, proposedBy, isDestructive = false, decide, onClose, children } = props;
  return (
    <ConfirmModal
      title={act === 'withdraw' ? 'Withdraw your proposal?' : `${VERBS[act]} ${what}?`}
      verb={`${VERBS[act]} it`}
      isDestructive={isDestructive}
      operationId={`${act}${noun}`}
      act={decide}
      onClose={onClose}
    >
      {children}
      <Text size="sm">
        Proposed by <Person person={proposedBy} />. {act === 'approve' ? 'It applies at once.' : otherwise}
      </Text>
    </ConfirmModal>
  );
}
