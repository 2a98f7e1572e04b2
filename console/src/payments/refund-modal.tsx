// The last question before a refund is requested, released or cancelled: whom it goes back to, and how much.
import { Modal, Stack, Text } from '@mantine/core';
import type { Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Fields } from '../ui/fields.tsx';
import { amountInWords } from '../ui/format.ts';
import { ModalActions } from '../ui/modal-actions.tsx';
import { useAct } from '../ui/use-act.ts';
import { Phone } from './cells.tsx';

type RefundModalProps = {
  readonly title: string;
  readonly note: string;
  readonly verb: string;
  readonly isDestructive?: boolean;
  readonly of: Pick<Schemas['Payout'], 'amount' | 'currency' | 'phone'>;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
};

export function RefundModal({ title, note, verb, isDestructive = false, of, act, onClose }: RefundModalProps) {
  const { amount, currency, phone } = of;
  const done = useAct(async () => {
    await act();
    onClose();
  });
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <Stack>
        <Fields
          label="The refund"
          fields={[
            ['Goes back to', <Phone key="phone" phone={phone} />],
            ['Amount', <Amount key="amount" amount={amount} currency={currency} />],
            ['In words', amountInWords(amount, currency)],
          ]}
        />
        <Text size="sm">{note}</Text>
        <ErrorNotice error={done.error} />
        <ModalActions
          act={done}
          verb={verb}
          onBack={onClose}
          onPress={() => done.run()}
          isDestructive={isDestructive}
        />
      </Stack>
    </Modal>
  );
}
