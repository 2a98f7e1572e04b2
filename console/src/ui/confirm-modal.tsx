// Asks once more before an act, naming what it is done to.
import type { ReactNode } from 'react';
import { ActModal } from './act-modal.tsx';
import { useStepUpAct } from './use-step-up-act.ts';

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

export function ConfirmModal({ operationId, act, onClose, ...props }: ConfirmModalProps) {
  const confirmed = useStepUpAct(operationId, async () => {
    await act();
    onClose();
  });
  return <ActModal {...props} act={confirmed} onClose={onClose} startsAtBack />;
}
