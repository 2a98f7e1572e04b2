// Dialogs that are for one act: what it is about, why it failed, and the buttons.
import { Button, Group, Modal, Stack, type ModalProps } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';
import { submitting, useStepUpAct, type Act, type useAct } from './use-act.ts';

type ActModalProps = Omit<ComponentProps<typeof ModalActions>, 'act' | 'onBack' | 'onPress'> &
  Pick<ModalProps, 'title' | 'size' | 'children' | 'onClose'> & { readonly act: Act<[]> };

export function ActModal({ title, size = 'md', act, onClose, children, ...actions }: ActModalProps) {
  return (
    <Modal opened onClose={onClose} title={title} size={size} centered>
      <Stack>
        {children}
        <ErrorNotice error={act.error} />
        <ModalActions {...actions} act={act} onBack={onClose} onPress={() => act.run()} />
      </Stack>
    </Modal>
  );
}

/** Its button submits the form. A press beside it leaves open what somebody is writing. */
export function FormModal({ title, size = 'md', act, onClose, children, ...actions }: ActModalProps) {
  return (
    <Modal opened onClose={onClose} title={title} size={size} centered closeOnClickOutside={false}>
      <form onSubmit={submitting(act)}>
        <Stack>
          {children}
          <ErrorNotice error={act.error} />
          <ModalActions {...actions} act={act} onBack={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}

type ModalActionsProps = {
  /** What the button does; it says so, and whether it is under way. */
  readonly act: Pick<ReturnType<typeof useAct>, 'isBusy'>;
  readonly verb: string;
  readonly onBack: () => void;
  /** Without it the button submits the form that it is in. */
  readonly onPress?: () => void;
  readonly isDisabled?: boolean;
  readonly isDestructive?: boolean;
  /** Where a press of Enter must not do it. */
  readonly startsAtBack?: boolean;
};

/** The foot of a dialog: the way back, and the one thing that the dialog is for. */
export function ModalActions({
  act: { isBusy },
  verb,
  onBack,
  onPress,
  isDisabled = false,
  isDestructive = false,
  startsAtBack = false,
}: ModalActionsProps) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onBack} disabled={isBusy} {...(startsAtBack && { 'data-autofocus': true })}>
        Back
      </Button>
      <Button
        {...(onPress === undefined ? { type: 'submit' } : { onClick: onPress })}
        {...(isDestructive && { color: 'red' })}
        loading={isBusy}
        disabled={isDisabled}
      >
        {verb}
      </Button>
    </Group>
  );
}

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

/** Asks once more before an act, naming what it is done to. */
export function ConfirmModal({ operationId, act, onClose, ...props }: ConfirmModalProps) {
  const confirmed = useStepUpAct(operationId, async () => {
    await act();
    onClose();
  });
  return <ActModal {...props} act={confirmed} onClose={onClose} startsAtBack />;
}
