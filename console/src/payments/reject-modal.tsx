// Rejecting what waits for a release, with a reason that its maker reads.
import { Button, Group, Modal, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { useAct } from '../ui/use-act.ts';

type RejectModalProps = {
  readonly title: string;
  readonly reject: (reason: string) => Promise<unknown>;
  readonly onClose: () => void;
};

export function RejectModal({ title, reject, onClose }: RejectModalProps) {
  const [reason, setReason] = useState('');
  const act = useAct(async () => {
    await reject(reason.trim());
    onClose();
  });
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <Stack>
        <Textarea
          label="Reason"
          description="Its maker reads it. The money is available again at once."
          required
          data-autofocus
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <ErrorNotice error={act.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <Button color="red" loading={act.isBusy} disabled={reason.trim() === ''} onClick={() => act.run()}>
            Reject
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
