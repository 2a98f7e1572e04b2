// The history of a payment, oldest first.
import { Anchor, Text, Timeline as Line } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { formatCode } from '../ui/format.ts';
import { MerchantText } from '../ui/merchant-text.tsx';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import { Moment } from '../ui/moment.tsx';
import { Heading } from '../ui/page.tsx';
import { Person } from '../ui/person.tsx';
import { StateBadge } from '../ui/state-badge.tsx';

type Entry = Schemas['TimelineEntry'];
type TimelineProps = { readonly entries: readonly Entry[]; readonly currency: string };

export function Timeline({ entries, currency }: TimelineProps) {
  return (
    <>
      <Heading>What happened</Heading>
      <Line bulletSize={14} lineWidth={2} active={entries.length}>
        {entries.map((entry, index) => (
          <Line.Item
            key={index}
            className="wraps"
            title={
              <Text inherit fw="normal" lh="md" component="span">
                <Happened entry={entry} currency={currency} />
              </Text>
            }
          >
            <Text size="sm" c="dimmed">
              <Moment at={entry.at} />
            </Text>
          </Line.Item>
        ))}
      </Line>
    </>
  );
}

function Happened({ entry, currency }: { readonly entry: Entry; readonly currency: string }): ReactNode {
  switch (entry.kind) {
    case 'state':
      return (
        <>
          <StateBadge state={entry.state} /> {entry.late && 'late '}
          {entry.by !== null && (
            <>
              by <Person person={entry.by} />
            </>
          )}
        </>
      );
    case 'approval':
      return (
        <>
          Approved by <Person person={entry.person} />
        </>
      );
    case 'operator_exchange':
      return (
        <>
          {EXCHANGES[entry.exchange]}: {formatCode(entry.outcome)}
          {entry.failure_code !== null && `, ${formatCode(entry.failure_code)}`} ({entry.duration_ms} ms)
        </>
      );
    case 'operator_callback':
      return <>{CALLBACKS[entry.purpose ?? 'hint']}</>;
    case 'float_low':
      return <FloatLow entry={entry} />;
    case 'operator_delayed':
      return (
        <>
          {OPERATOR_NAMES[entry.operator] ?? entry.operator} is delayed: it{' '}
          {entry.sent ? 'is asked about this payment' : 'gets this payment'} once it answers again
        </>
      );
    case 'ledger_transfer':
      return <Transfer entry={entry} currency={currency} />;
    case 'delivery':
      return <Delivery entry={entry} />;
    case 'discrepancy':
      return (
        <>
          The operator contradicts what is posted: {formatCode(entry.discrepancy)}
          {entry.settled_at === null ? ', not settled yet' : ', settled'}
        </>
      );
    case 'reversal':
      return (
        <>
          <Anchor component={Link} inherit href={`/refunds/${entry.id}`}>
            Refund
          </Anchor>{' '}
          requested by <Person person={entry.requested_by} />: <StateBadge state={entry.state} />
        </>
      );
  }
}

type EntryOf<Kind extends Entry['kind']> = Extract<Entry, { kind: Kind }>;

function FloatLow({ entry }: { readonly entry: EntryOf<'float_low'> }) {
  return (
    <>
      {OPERATOR_NAMES[entry.operator] ?? entry.operator} refused it, because our float there was too low.{' '}
      {entry.waiting ? (
        <>
          It is sent again after <Moment at={entry.send_after} />, until its send deadline
        </>
      ) : (
        <>It was to be sent again</>
      )}
      , under the reference {entry.operator_reference}
    </>
  );
}

function Transfer({ entry, currency }: { readonly entry: EntryOf<'ledger_transfer'>; readonly currency: string }) {
  const changes = [
    ['available', entry.available_change],
    ['held', entry.held_change],
  ] as const;
  return (
    <>
      Posted, {formatCode(entry.transfer)}:{' '}
      {changes
        .filter(([, change]) => change !== 0)
        .map(([account, change]) => (
          <span key={account}>
            {account} {change > 0 && '+'}
            <Amount amount={change} currency={currency} />{' '}
          </span>
        ))}
    </>
  );
}

function Delivery({ entry }: { readonly entry: EntryOf<'delivery'> }) {
  const last = entry.attempts.at(-1);
  return (
    <>
      <Anchor component={Link} inherit href={`/deliveries/${entry.id}`}>
        {entry.event_type}
      </Anchor>
      : <StateBadge state={entry.state} />
      {last !== undefined &&
        ` after ${entry.attempt_count} ${entry.attempt_count === 1 ? 'attempt' : 'attempts'}, the last: ${last.error ?? last.status_code}`}
      , to <MerchantText text={entry.endpoint_url} />
    </>
  );
}

const EXCHANGES: Readonly<Record<Extract<Entry, { kind: 'operator_exchange' }>['exchange'], string>> = {
  send: 'Sent to the operator',
  status_query: 'Status query',
  name_query: 'Query of the payee’s name',
};

const CALLBACKS: Readonly<Record<NonNullable<EntryOf<'operator_callback'>['purpose']> | 'hint', string>> = {
  result: 'The operator sent a result',
  timeout: 'The operator sent the notice of a timeout',
  query: 'The operator answered a status query',
  hint: 'The operator called back',
};
