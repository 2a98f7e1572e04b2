// Dialogs for one act: its object, its error, and the buttons.
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

/** Its button submits the form. A press outside does not close it, so that typed text is kept. */
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
  /** The act of the button, which shows whether it is in progress. */
  readonly act: Pick<ReturnType<typeof useAct>, 'isBusy'>;
  readonly verb: string;
  readonly onBack: () => void;
  /** Without it the button submits the form that it is in. */
  readonly onPress?: () => void;
  readonly isDisabled?: boolean;
  readonly isDestructive?: boolean;
  /** Whether a press of Enter must not start the act. */
  readonly startsAtBack?: boolean;
};

/** The foot of a dialog: the way back, and its one act. */
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
  /** The text of the button: the act itself, never “OK”. */
  readonly verb: string;
  readonly isDestructive?: boolean;
  /** As in the API: if it needs a step-up, the person verifies their identity first. */
  readonly operationId: string;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** Asks for a confirmation of an act, naming its object. */
export function ConfirmModal({ operationId, act, onClose, ...props }: ConfirmModalProps) {
  const confirmed = useStepUpAct(operationId, async () => {
    await act();
    onClose();
  });
  return <ActModal {...props} act={confirmed} onClose={onClose} startsAtBack />;
}
