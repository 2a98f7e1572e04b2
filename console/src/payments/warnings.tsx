// Warnings for a maker or approver of a payout, in plain words: the service finds them, people judge them.
import { Alert, Anchor, List, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import type { Column } from '../ui/rows.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { Phone } from './cells.tsx';

type Judgement = Schemas['PayoutJudgement'];
type Warning = Schemas['PayoutWarning'];
type WarningsProps = {
  readonly judgement: Judgement | null;
  readonly currency: string;
  /** Whether other payouts open in a separate tab, so that the texts in this page stay. */
  readonly isApart?: boolean;
};

/** All warnings; nothing if there are none. */
export function Warnings({ judgement, currency, isApart = false }: WarningsProps) {
  if (judgement === null || judgement.warnings.length === 0) return null;
  return (
    <Alert color="orange" title="Look twice">
      <List size="sm">
        {judgement.warnings.map((warning) => (
          <List.Item key={warning.code}>
            <WarningText warning={warning} currency={currency} isApart={isApart} />
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

export const lookTwice: Column<Schemas['ConsolePayout']> = {
  title: 'Look twice',
  cell: ({ judgement, currency }) => <WarningList judgement={judgement} currency={currency} />,
};

export function WarningList({ judgement, currency, isApart = false }: WarningsProps) {
  if (judgement === null || judgement.warnings.length === 0) return null;
  return judgement.warnings.map((warning) => (
    <Text key={warning.code} size="sm" c="orange" miw={150}>
      <WarningText warning={warning} currency={currency} isApart={isApart} />
    </Text>
  ));
}

type WarningTextProps = Pick<WarningsProps, 'currency' | 'isApart'> & { readonly warning: Warning };

function WarningText({ warning, currency, isApart = false }: WarningTextProps) {
  switch (warning.code) {
    case 'first_payout_to_number':
      return <>The first payout to this number.</>;
    case 'same_number_and_amount_within_24h':
      return (
        <>
          The same amount to the same number within a day:{' '}
          <PayoutLink id={warning.payout_id} isApart={isApart}>
            the other one
          </PayoutLink>
          , <Moment at={warning.created_at} />, {warning.state}.
        </>
      );
    case 'number_changed_since_last':
      return (
        <>
          The last payout with this reference went to another number, <Phone phone={warning.phone} />:{' '}
          <PayoutLink id={warning.payout_id} isApart={isApart}>
            that one
          </PayoutLink>
          .
        </>
      );
    case 'above_usual':
      return (
        <>
          More than {warning.times} times what you usually pay out,{' '}
          <Amount amount={warning.usual_amount} currency={currency} />.
        </>
      );
    case 'payee_name_differs':
      return (
        <>
          The operator knows this number under another name, <MerchantText text={warning.name} />, than the maker wrote:{' '}
          <MerchantText text={warning.typed} />.
        </>
      );
  }
}

export function EarlierPayouts({ judgement, currency, isApart = false }: WarningsProps) {
  if (judgement === null) return <>–</>;
  const { count, at_least, last } = judgement.earlier_payouts;
  if (last === null) return <>none</>;
  return (
    <>
      {at_least ? `${count} or more` : count}, the last{' '}
      <PayoutLink id={last.id} isApart={isApart}>
        <Moment at={last.created_at} />
      </PayoutLink>
      : <Amount amount={last.amount} currency={currency} /> <StateBadge state={last.state} />
    </>
  );
}

/** The name of the payee at the operator, and when it was asked. */
export function PayeeName({ judgement }: Pick<WarningsProps, 'judgement'>) {
  const payee = judgement?.payee ?? null;
  if (payee === null) return <>–</>;
  return (
    <>
      {payee.name === null ? 'none' : <MerchantText text={payee.name} />}, asked <Moment at={payee.asked_at} />
    </>
  );
}

type PayoutLinkProps = { readonly id: string; readonly isApart: boolean; readonly children: ReactNode };

function PayoutLink({ id, isApart, children }: PayoutLinkProps) {
  const path = `/payouts/${id}`;
  return isApart ? (
    <Anchor inherit href={`/console${path}`} target="_blank">
      {children}
    </Anchor>
  ) : (
    <Anchor component={Link} inherit href={path}>
      {children}
    </Anchor>
  );
}
