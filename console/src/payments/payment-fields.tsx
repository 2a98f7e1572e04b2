// The common fields of payments and refunds.
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.ts';
import { Amount } from '../ui/amount.tsx';
import { CopyText } from '../ui/copy-text.tsx';
import type { NamedValue } from '../ui/fields.tsx';
import { amountInWords } from '../ui/format.ts';
import { MerchantText } from '../ui/merchant-text.tsx';
import { Moment } from '../ui/moment.tsx';
import { OPERATOR_NAMES } from '../ui/operator-names.ts';
import { Person } from '../ui/person.tsx';
import { StateBadge } from '../ui/state-badge.tsx';

type Payment = Schemas['CollectionWithTimeline'] | Schemas['PayoutWithTimeline'];
type Decided = Pick<
  Schemas['ConsolePayout'],
  'state' | 'approvals_required' | 'rejection_reason' | 'created_at' | 'released_at' | 'completed_at' | 'expires_at'
> & { readonly approvals: readonly Pick<Schemas['ConsolePayout']['approvals'][number], 'person' | 'approved_at'>[] };

/** Its state and amount, in figures and words, and why it failed. */
export function outcomeFields(payment: Pick<Payment, 'state' | 'failure' | 'amount' | 'currency'>): NamedValue[] {
  const { state, failure, amount, currency } = payment;
  return [
    ['State', <StateBadge key="state" state={state} />],
    failure !== null && ['Why', `${failure.message} (${failure.code})`],
    ['Amount', <Amount key="amount" amount={amount} currency={currency} />],
    ['In words', amountInWords(amount, currency)],
  ];
}

export function operatorField({ operator }: Payment): NamedValue {
  return ['Operator', OPERATOR_NAMES[operator] ?? operator];
}

/** Who approved it, and the times of its steps; `created` names its creation. */
export function decisionFields(decided: Decided, created: string): NamedValue[] {
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
    reason !== null && ['Rejected because', <MerchantText key="why" text={reason} />],
    [created, <Moment key="created" at={decided.created_at} />],
    ['Released', <Moment key="released" at={decided.released_at} />],
    ['Completed', <Moment key="completed" at={decided.completed_at} />],
    state === 'queued' && ['Expires', <Moment key="expires" at={decided.expires_at} />],
  ];
}

export function givenBackField({ amount_reversed, currency }: Payment): NamedValue {
  return amount_reversed !== 0 && ['Given back', <Amount key="back" amount={amount_reversed} currency={currency} />];
}

/** The API key and the idempotency key of its request. The key of payments before this was recorded is unknown. */
export function originFields({ api_key, idempotency_key }: Payment): NamedValue[] {
  return [
    ['API key', <MerchantText key="api" text={api_key === null ? '–' : (api_key.name ?? api_key.id)} />],
    ['Idempotency key', <MerchantText key="idempotency" text={idempotency_key} />],
  ];
}

/** The receipt in the operator's statements and in the message on the payer's phone. */
function receiptField({ operator_receipt }: Payment): NamedValue {
  if (operator_receipt === null) return ['Operator’s receipt', '–'];
  return ['Operator’s receipt', <CopyText key="receipt" text={operator_receipt} what="operator’s receipt" />];
}

/** The last fields of a collection or payout: how the operator and the service know it. */
export function recordFields(payment: Payment): NamedValue[] {
  return [
    receiptField(payment),
    ...idFields(payment),
    eventsField(payment.id),
    ...statusQueryFields(payment),
    workflowField(payment),
  ];
}

export function idFields({ id, operator_reference }: Pick<Payment, 'id' | 'operator_reference'>): NamedValue[] {
  return [
    ['Operator’s reference', <CopyText key="operator" text={operator_reference} what="operator’s reference" />],
    ['Id', <CopyText key="id" text={id} what="id" />],
  ];
}

export function statusQueryFields({ status_queries: queries }: Pick<Payment, 'status_queries'>): NamedValue[] {
  if (queries === null) return [];
  const { count, last_at, next_at } = queries;
  return [
    ['Status queries', `${count} in this state`],
    last_at !== null && ['Last status query', <Moment key="last-query" at={last_at} />],
    ['Next status query', next_at === null ? 'now' : <Moment key="next-query" at={next_at} />],
  ];
}

/** The link for a developer of a test environment to the workflow in Temporal. */
export function workflowField({ workflow_url }: Pick<Schemas['ReversalWithWorkflow'], 'workflow_url'>): NamedValue {
  if (workflow_url === null) return false;
  return [
    'Workflow',
    <Anchor key="workflow" inherit href={workflow_url} target="_blank" rel="noopener noreferrer">
      in the Temporal UI
    </Anchor>,
  ];
}

function eventsField(id: string): NamedValue {
  return [
    'Events',
    <Anchor key="events" component={Link} inherit href={`/events?object_id=${id}`}>
      events and deliveries
    </Anchor>,
  ];
}
