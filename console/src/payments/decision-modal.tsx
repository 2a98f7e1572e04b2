// The dialogs of decisions on payouts: their current states, and then the outcome of each.
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ActModal } from '../ui/modals.tsx';
import { useAct } from '../ui/use-act.ts';
import { usePayoutDecisions, type Outcome } from './decide.ts';
import { Outcomes, ToDecide, useCurrentPayouts, type PayoutObject } from './decided-payouts.tsx';
import { ReasonField } from './reject-modal.tsx';

type DecisionModalProps = {
  /** Such as “Release”. The button adds “it” or the number of payouts. */
  readonly verb: string;
  /** Such as “released”. */
  readonly done: string;
  readonly payouts: readonly PayoutObject[];
  readonly decide: (ids: readonly string[]) => Promise<readonly Outcome[]>;
  readonly onClose: () => void;
  /** False: a required field above the button is missing. */
  readonly isReady?: boolean;
  readonly isDestructive?: boolean;
  readonly children?: ReactNode;
};

function DecisionModal(props: DecisionModalProps) {
  const { verb, done, payouts, decide, onClose, isReady = true, isDestructive = false, children } = props;
  const [outcomes, setOutcomes] = useState<readonly Outcome[] | null>(null);
  const current = useCurrentPayouts(payouts);
  const ids = current.waiting.map(({ id }) => id);
  const act = useAct(async () => setOutcomes(await decide(ids)));
  if (outcomes !== null) {
    return (
      <Modal opened onClose={onClose} title="Results" size="xl" centered>
        <Stack>
          <Outcomes outcomes={outcomes} payouts={payouts} done={done} />
          <Group justify="flex-end">
            <Button onClick={onClose}>Close</Button>
          </Group>
        </Stack>
      </Modal>
    );
  }
  return (
    <ActModal
      title={verb}
      size="xl"
      act={act}
      verb={ids.length === 1 ? `${verb} it` : `${verb} ${ids.length} payouts`}
      isDisabled={ids.length === 0 || !isReady}
      isDestructive={isDestructive}
      onClose={onClose}
    >
      <ToDecide current={current} done={done} />
      {children}
    </ActModal>
  );
}

type PayoutsModalProps = { readonly payouts: readonly PayoutObject[]; readonly onClose: () => void };

export function ReleaseModal({ payouts, onClose }: PayoutsModalProps) {
  const decisions = usePayoutDecisions();
  return (
    <DecisionModal verb="Release" done="released" payouts={payouts} decide={decisions.release} onClose={onClose} />
  );
}

export function RejectPayoutsModal({ payouts, onClose }: PayoutsModalProps) {
  const decisions = usePayoutDecisions();
  const [reason, setReason] = useState('');
  return (
    <DecisionModal
      verb="Reject"
      done="rejected"
      payouts={payouts}
      decide={(ids) => decisions.reject(ids, reason.trim())}
      onClose={onClose}
      isReady={reason.trim() !== ''}
      isDestructive
    >
      <ReasonField reason={reason} onReason={setReason} />
    </DecisionModal>
  );
}

type CancelPayoutModalProps = { readonly payout: PayoutObject; readonly onClose: () => void };

export function CancelPayoutModal({ payout, onClose }: CancelPayoutModalProps) {
  const decisions = usePayoutDecisions();
  return (
    <DecisionModal
      verb="Cancel"
      done="cancelled"
      payouts={[payout]}
      decide={async () => [await decisions.cancel(payout.id)]}
      onClose={onClose}
      isDestructive
    >
      <Text size="sm">Nothing is sent, and the money is available again at once. That cannot be undone.</Text>
    </DecisionModal>
  );
}
