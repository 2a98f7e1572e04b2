// The confirmation before a refund is requested, released or cancelled: the payer and the amount.
import { Text } from '@mantine/core';
import type { Schemas } from '../api/client.ts';
import { ActModal } from '../ui/modals.tsx';
import { Amount } from '../ui/amount.tsx';
import { Fields } from '../ui/fields.tsx';
import { amountInWords } from '../ui/format.ts';
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

export function RefundModal({ note, of, act, onClose, ...props }: RefundModalProps) {
  const done = useAct(async () => {
    await act();
    onClose();
  });
  return (
    <ActModal {...props} act={done} onClose={onClose}>
      <RefundedMoney of={of} />
      <Text size="sm">{note}</Text>
    </ActModal>
  );
}

/** The head of every decision on a refund: the payer and the amount. */
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
