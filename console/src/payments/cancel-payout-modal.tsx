// Cancelling a payout that waits, by its maker.
import { Text } from '@mantine/core';
import { usePayoutDecisions } from './decide.ts';
import type { PayoutObject } from './decided-payouts.tsx';
import { DecisionModal } from './decision-modal.tsx';

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
