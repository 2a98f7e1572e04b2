// Rejects a waiting payout or refund, with a reason for its maker.
import { Textarea } from '@mantine/core';
import { useState, type ComponentProps } from 'react';
import { ActModal } from '../ui/modals.tsx';
import { useAct } from '../ui/use-act.ts';
import { RefundedMoney } from './refund-modal.tsx';

type RejectRefundModalProps = {
  readonly of: ComponentProps<typeof RefundedMoney>['of'];
  readonly reject: (reason: string) => Promise<unknown>;
  readonly onClose: () => void;
};

export function RejectRefundModal({ of, reject, onClose }: RejectRefundModalProps) {
  const [reason, setReason] = useState('');
  const act = useAct(async () => {
    await reject(reason.trim());
    onClose();
  });
  return (
    <ActModal
      title="Reject the refund"
      act={act}
      verb="Reject it"
      isDisabled={reason.trim() === ''}
      isDestructive
      onClose={onClose}
    >
      <RefundedMoney of={of} />
      <ReasonField reason={reason} onReason={setReason} />
    </ActModal>
  );
}

type ReasonFieldProps = { readonly reason: string; readonly onReason: (reason: string) => void };

export function ReasonField({ reason, onReason }: ReasonFieldProps) {
  return (
    <Textarea
      label="Reason"
      description="Its maker reads it. The money is available again at once."
      required
      data-autofocus
      value={reason}
      onChange={({ currentTarget }) => onReason(currentTarget.value)}
    />
  );
}
