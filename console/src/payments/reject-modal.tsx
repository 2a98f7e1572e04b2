// Rejecting what waits for a release, with a reason that its maker reads.
import { Modal, Stack, Textarea } from '@mantine/core';
import { useState, type ComponentProps } from 'react';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { ModalActions } from '../ui/modal-actions.tsx';
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
    <Modal opened onClose={onClose} title="Reject the refund" centered>
      <Stack>
        <RefundedMoney of={of} />
        <ReasonField reason={reason} onReason={setReason} />
        <ErrorNotice error={act.error} />
        <ModalActions
          act={act}
          verb="Reject it"
          onBack={onClose}
          onPress={() => act.run()}
          isDisabled={reason.trim() === ''}
          isDestructive
        />
      </Stack>
    </Modal>
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
