// The fields that payments and refunds show alike.
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { CopyText } from '../ui/copy-text.tsx';
import { amountInWords } from '../ui/format.ts';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import { Person } from '../ui/person.tsx';
import { StateBadge } from '../ui/state-badge.tsx';

type Field = readonly [name: string, value: ReactNode];
type Payment = Schemas['CollectionWithTimeline'] | Schemas['PayoutWithTimeline'];
type Decided = Pick<
  Schemas['ConsolePayout'],
  'state' | 'approvals_required' | 'rejection_reason' | 'created_at' | 'released_at' | 'completed_at' | 'expires_at'
> & { readonly approvals: readonly Pick<Schemas['ConsolePayout']['approvals'][number], 'person' | 'approved_at'>[] };

/** Its state and amount, in figures and words, and why it failed. */
export function outcomeFields(payment: Pick<Payment, 'state' | 'failure' | 'amount' | 'currency'>): Field[] {
  const { state, failure, amount, currency } = payment;
  return [
    ['State', <StateBadge key="state" state={state} />],
    ...(failure === null ? [] : [['Why', `${failure.message} (${failure.code})`] as const]),
    ['Amount', <Amount key="amount" amount={amount} currency={currency} />],
    ['In words', amountInWords(amount, currency)],
  ];
}

export function operatorField({ operator }: Payment): Field {
  return ['Operator', OPERATOR_NAMES[operator] ?? operator];
}

/** Who approved it and when it came how far; `created` is what its creation is called. */
export function decisionFields(decided: Decided, created: string): Field[] {
  const { state, approvals, approvals_required: required, rejection_reason: reason } = decided;
  return [
    [
      'Approved by',
      approvals.length === 0
        ? `nobody yet; ${required} needed`
        : approvals.map(({ person, approved_at }) => (
            <div key={person.id}>
              <Person person={person} />, <Moment at={approved_at} />
            </div>
          )),
    ],
    ...(reason === null ? [] : [['Rejected because', <MerchantText key="why" text={reason} />] as const]),
    [created, <Moment key="created" at={decided.created_at} />],
    ['Released', <Moment key="released" at={decided.released_at} />],
    ['Completed', <Moment key="completed" at={decided.completed_at} />],
    ...(state === 'queued' ? [['Expires', <Moment key="expires" at={decided.expires_at} />] as const] : []),
  ];
}

export function givenBackFields({ amount_reversed, currency }: Payment): Field[] {
  if (amount_reversed === 0) return [];
  return [['Given back', <Amount key="back" amount={amount_reversed} currency={currency} />]];
}

/** By which key it was made, under which idempotency key. Of a payment of before this was recorded nobody knows the key. */
export function originFields({ api_key, idempotency_key }: Payment): Field[] {
  return [
    ['API key', <MerchantText key="api" text={api_key === null ? '–' : (api_key.name ?? api_key.id)} />],
    ['Idempotency key', <MerchantText key="idempotency" text={idempotency_key} />],
  ];
}

/** Which the operator's statements, and the message on the payer's phone, have. */
export function receiptField({ operator_receipt }: Payment): Field {
  if (operator_receipt === null) return ['Operator’s receipt', '–'];
  return ['Operator’s receipt', <CopyText key="receipt" text={operator_receipt} what="operator’s receipt" />];
}

export function idFields({ id, operator_reference }: Pick<Payment, 'id' | 'operator_reference'>): Field[] {
  return [
    ['Operator’s reference', <CopyText key="operator" text={operator_reference} what="operator’s reference" />],
    ['Id', <CopyText key="id" text={id} what="id" />],
  ];
}

/** How the operator is asked for what became of the payment. */
export function statusQueryFields({ status_queries }: Pick<Schemas['PayoutWithTimeline'], 'status_queries'>): Field[] {
  if (status_queries === null) return [];
  const { count, last_at, next_at } = status_queries;
  const fields: Field[] = [['Status queries', `${count} in this state`]];
  if (last_at !== null) fields.push(['Last status query', <Moment key="last-query" at={last_at} />]);
  fields.push(['Next status query', next_at === null ? 'now' : <Moment key="next-query" at={next_at} />]);
  return fields;
}

/** Where a developer of a test environment looks for what Temporal did. */
export function workflowFields({ workflow_url }: Pick<Schemas['ReversalWithWorkflow'], 'workflow_url'>): Field[] {
  if (workflow_url === null) return [];
  const link = (
    <Anchor key="workflow" inherit href={workflow_url} target="_blank" rel="noopener noreferrer">
      in the Temporal UI
    </Anchor>
  );
  return [['Workflow', link]];
}

export function eventsField(id: string): Field {
  return [
    'Events',
    <Anchor key="events" component={Link} inherit href={`/events?object_id=${id}`}>
      events and deliveries
    </Anchor>,
  ];
}
