// Asks once more before an act, naming what it is done to.
import { Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useStepUp } from '../session/step-up.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { ModalActions } from './modal-actions.tsx';
import { useAct } from './use-act.ts';
import { useRefresh } from './use-refresh.ts';

type ConfirmModalProps = {
  readonly title: ReactNode;
  /** What the button says: the act itself, never “OK”. */
  readonly verb: string;
  readonly isDestructive?: boolean;
  /** Named as in the API: where it needs a step-up, the person proves first who they are. */
  readonly operationId: string;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

export function ConfirmModal(props: ConfirmModalProps) {
  const { title, verb, isDestructive = false, operationId, act, onClose, children } = props;
  const stepUp = useStepUp();
  const refresh = useRefresh();
  const confirmed = useAct(async () => {
    await stepUp(operationId);
    try {
      await act();
    } finally {
      // Refused or not answered, what is shown may be out of date too.
      void refresh();
    }
    onClose();
  });
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <Stack>
        {children}
        <ErrorNotice error={confirmed.error} />
        <ModalActions
          act={confirmed}
          verb={verb}
          onBack={onClose}
          onPress={() => confirmed.run()}
          isDestructive={isDestructive}
          startsAtBack
        />
      </Stack>
    </Modal>
  );
}
