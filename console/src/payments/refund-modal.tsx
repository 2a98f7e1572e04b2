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

type Refunded = Pick<Schemas['Payout'], 'amount' | 'currency' | 'phone'>;

type RefundModalProps = {
  readonly title: string;
  readonly note: string;
  readonly verb: string;
  readonly isDestructive?: boolean;
  readonly of: Refunded;
  readonly act: () => Promise<unknown>;
  readonly onClose: () => void;
};

export function RefundModal({ title, note, verb, isDestructive = false, of, act, onClose }: RefundModalProps) {
  const done = useAct(async () => {
    await act();
    onClose();
  });
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <Stack>
        <RefundedMoney of={of} />
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

/** What every decision on a refund shows first: to whom, and how much. */
export function RefundedMoney({ of: { amount, currency, phone } }: { readonly of: Refunded }) {
  return (
    <Fields
      label="The refund"
      fields={[
        ['Goes back to', <Phone key="phone" phone={phone} />],
        ['Amount', <Amount key="amount" amount={amount} currency={currency} />],
        ['In words', amountInWords(amount, currency)],
      ]}
    />
  );
}
