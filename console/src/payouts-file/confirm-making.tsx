// The last question before the payouts of a file are made: how many, and how much.
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { Amount } from '../ui/amount.tsx';
import { amountInWords } from '../ui/format.ts';
import { payouts, type Sum } from './summary.tsx';

type ConfirmMakingProps = Sum & {
  readonly currency: string;
  readonly bad: number;
  readonly onMake: () => void;
  readonly onClose: () => void;
};

export function ConfirmMaking({ count, amount, currency, bad, onMake, onClose }: ConfirmMakingProps) {
  return (
    <Modal opened onClose={onClose} title={`Make ${payouts(count)}`} centered>
      <Stack>
        <div>
          <Text fw={600}>
            {payouts(count)}: <Amount amount={amount} currency={currency} />
          </Text>
          <Text size="sm" c="dimmed">
            {amountInWords(amount, currency)}
          </Text>
        </div>
        <Text size="sm">
          {bad > 0 && `${bad === 1 ? 'One row is' : `${bad} rows are`} wrong and not made. `}
          The amounts are held from now on, and sent once another person has released them.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Back
          </Button>
          <Button onClick={onMake}>Make them</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
