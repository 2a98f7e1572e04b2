// Releasing one or several payouts.
import { usePayoutDecisions } from './decide.ts';
import type { PayoutObject } from './decided-payouts.tsx';
import { DecisionModal } from './decision-modal.tsx';

type ReleaseModalProps = { readonly payouts: readonly PayoutObject[]; readonly onClose: () => void };

export function ReleaseModal({ payouts, onClose }: ReleaseModalProps) {
  const decisions = usePayoutDecisions();
  return (
    <DecisionModal verb="Release" done="released" payouts={payouts} decide={decisions.release} onClose={onClose} />
  );
}
