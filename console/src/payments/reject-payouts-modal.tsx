// Rejecting one or several payouts, with a reason.
import { useState } from 'react';
import { usePayoutDecisions } from './decide.ts';
import type { PayoutObject } from './decided-payouts.tsx';
import { DecisionModal } from './decision-modal.tsx';
import { ReasonField } from './reject-modal.tsx';

type RejectPayoutsModalProps = { readonly payouts: readonly PayoutObject[]; readonly onClose: () => void };

export function RejectPayoutsModal({ payouts, onClose }: RejectPayoutsModalProps) {
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
