// What an approver should know before a release, in plain words: the service finds it, people judge it.
import { Alert, Anchor, List, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { Moment } from '../ui/moment.tsx';
import { StateBadge } from '../ui/state-badge.tsx';
import { Phone } from './cells.tsx';

type Judgement = Schemas['PayoutJudgement'];
type Warning = Schemas['PayoutWarning'];
type WarningsProps = { readonly judgement: Judgement | null; readonly currency: string };

/** All of it; nothing where there is nothing to warn of. */
export function Warnings({ judgement, currency }: WarningsProps) {
  if (judgement === null || judgement.warnings.length === 0) return null;
  return (
    <Alert color="orange" title="Look twice">
      <List size="sm">
        {judgement.warnings.map((warning) => (
          <List.Item key={warning.code}>
            <WarningText warning={warning} currency={currency} />
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** In the cell of a table. */
export function WarningList({ judgement, currency }: WarningsProps) {
  if (judgement === null || judgement.warnings.length === 0) return null;
  return judgement.warnings.map((warning) => (
    <Text key={warning.code} size="sm" c="orange">
      <WarningText warning={warning} currency={currency} />
    </Text>
  ));
}

function WarningText({ warning, currency }: { readonly warning: Warning; readonly currency: string }) {
  switch (warning.code) {
    case 'first_payout_to_number':
      return <>The first payout to this number.</>;
    case 'same_number_and_amount_within_24h':
      return (
        <>
          The same amount to the same number within a day:{' '}
          <Anchor component={Link} inherit href={`/payouts/${warning.payout_id}`}>
            the other one
          </Anchor>
          , <Moment at={warning.created_at} />, {warning.state}.
        </>
      );
    case 'number_changed_since_last':
      return (
        <>
          The last payout with this reference went to another number, <Phone phone={warning.phone} />:{' '}
          <Anchor component={Link} inherit href={`/payouts/${warning.payout_id}`}>
            that one
          </Anchor>
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
  }
}

export function EarlierPayouts({ judgement, currency }: WarningsProps) {
  if (judgement === null) return <>–</>;
  const { count, at_least, last } = judgement.earlier_payouts;
  if (last === null) return <>none</>;
  return (
    <>
      {at_least ? `${count} or more` : count}, the last{' '}
      <Anchor component={Link} inherit href={`/payouts/${last.id}`}>
        <Moment at={last.created_at} />
      </Anchor>
      : <Amount amount={last.amount} currency={currency} /> <StateBadge state={last.state} />
    </>
  );
}
