// The foot of a dialog: the way back, and the one thing that the dialog is for.
import { Button, Group } from '@mantine/core';
import type { useAct } from './use-act.ts';

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
