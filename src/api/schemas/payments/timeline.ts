// The history of one payment on the wire.
import { z } from 'zod';
import { COLLECTION_STATES } from '../../../domain/payments/collection.ts';
import { DISCREPANCY_KINDS } from '../../../domain/payments/discrepancy.ts';
import { FAILURE_CODES } from '../../../domain/payments/failure.ts';
import { POSTING_KINDS } from '../../../domain/payments/ledger.ts';
import { EXCHANGE_KINDS, EXCHANGE_OUTCOMES } from '../../../domain/payments/operator-exchange.ts';
import { MESSAGE_PURPOSES } from '../../../domain/payments/operator-catalogue.ts';
import { PAYOUT_STATES, type PayoutState } from '../../../domain/payments/payout.ts';
import type { CollectionState } from '../../../domain/payments/collection.ts';
import { MOST_ATTEMPTS, MOST_OF_A_KIND, type TimelineEntry } from '../../../domain/payments/timeline.ts';
import type { StatusQueries } from '../../../db/work/status-queries.ts';
import { idOf, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';
import { deliveryState, eventType } from '../webhooks/delivery.ts';
import { knownPerson } from '../accounts/person.ts';
import {
  operator,
  operatorReference,
  shownAmount,
  shownStatusQueries,
  statusQueriesObject,
  workflowUrl,
} from './payment.ts';
import { reversalState } from './reversal.ts';

type PaymentState = CollectionState | PayoutState;
const paymentState = z
  .enum([...new Set<PaymentState>([...COLLECTION_STATES, ...PAYOUT_STATES])])
  .meta({ id: 'PaymentState' });

const entry = <Kind extends string, Fields extends z.ZodRawShape>(kind: Kind, id: string, fields: Fields) =>
  z.strictObject({ kind: z.literal(kind), at: time, ...fields }).meta({ id: `Timeline${id}` });

const change = z.int().meta({ description: 'The change of the balance. 0: no change.', example: 5000 });

const deliveryAttempt = z.strictObject({
  number: z.int().min(1),
  started_at: time,
  duration_ms: z.int().min(0),
  status_code: z.int().nullable().meta({ description: 'Null: there was no answer.', example: 200 }),
  error: z.string().nullable().meta({ example: null }),
});

const deliveryEntry = entry('delivery', 'Delivery', {
  id: idOf('dlv'),
  event_id: idOf('evt'),
  event_type: eventType,
  endpoint_id: idOf('whe'),
  endpoint_url: z.string().meta({ example: 'https://shop.example/webhooks' }),
  state: deliveryState,
  attempt_count: z.int().min(0),
  next_attempt_at: time.nullable(),
  attempts: z.array(deliveryAttempt).meta({ description: `Oldest first, the last ${MOST_ATTEMPTS}.` }),
});

const timelineEntry = z
  .discriminatedUnion('kind', [
    entry('state', 'State', {
      state: paymentState,
      previous_state: paymentState.nullable().meta({ description: 'Null: the payment was created.' }),
      late: z
        .boolean()
        .meta({ description: 'The outcome came after the expiry or the prompt window.', example: false }),
      event_id: idOf('evt').nullable().meta({ description: 'The event that reports the change. Null: no event does.' }),
      by: knownPerson.nullable().meta({ description: 'The person who acted in a session. Null: nobody did.' }),
    }),
    entry('approval', 'Approval', { person: knownPerson }),
    entry('operator_exchange', 'OperatorExchange', {
      payment_id: z
        .string()
        .regex(/^(?:col|pay|rev)_/)
        .meta({ description: 'This payment, or a reversal of it.', example: 'col_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
      exchange: z.enum(EXCHANGE_KINDS),
      outcome: z.enum(EXCHANGE_OUTCOMES).meta({
        description:
          '`unknown`: there was no answer, or no usable one. Of very many equal entries, the first are shown.',
        example: 'accepted',
      }),
      failure_code: z
        .enum(FAILURE_CODES)
        .nullable()
        .meta({ description: 'The failure code, if the operator refused or failed the payment.', example: null }),
      duration_ms: z.int().min(0).meta({ example: 180 }),
    }),
    entry('operator_callback', 'OperatorCallback', {
      purpose: z
        .enum(MESSAGE_PURPOSES)
        .nullable()
        .meta({
          description:
            'What the address of the callback was made for: the result of the payment, the notice of its timeout, or the answer to a ' +
            'status query. Null: the callback came to no such address, and only causes a status query.',
          example: null,
        }),
    }),
    entry('float_low', 'FloatLow', {
      operator,
      operator_reference: operatorReference.meta({
        description:
          'The operator refused the payout, because our float there was too low. It is sent again under this reference.',
      }),
      send_after: time.meta({ description: 'The payout is sent again after this time, and before its send deadline.' }),
      waiting: z.boolean().meta({ description: 'Whether it still waits to be sent again.', example: true }),
    }),
    entry('operator_delayed', 'OperatorDelayed', {
      operator,
      sent: z.boolean().meta({
        description:
          'False: nobody has tried to send the payment, and it is sent once the operator answers again. True: its status is queried then.',
        example: false,
      }),
    }),
    entry('ledger_transfer', 'LedgerTransfer', {
      transfer: z.enum(POSTING_KINDS),
      amount: shownAmount,
      available_change: change,
      held_change: change,
    }),
    deliveryEntry,
    entry('discrepancy', 'Discrepancy', {
      discrepancy: z.enum(DISCREPANCY_KINDS),
      settled_at: time.nullable().meta({ example: null }),
      settlement: z
        .string()
        .nullable()
        .meta({ description: 'How the staff of the service settled it.', example: null }),
    }),
    entry('reversal', 'Reversal', { id: idOf('rev'), state: reversalState, requested_by: knownPerson }),
  ])
  .meta({ id: 'TimelineEntry' });

const timelineSchema = z.array(timelineEntry).meta({
  description: `Oldest first. For each kind, the first ${MOST_OF_A_KIND}.`,
});

/** The fields of a single payment, besides those in a list. */
export const historyFields = {
  timeline: timelineSchema,
  status_queries: shownStatusQueries,
  workflow_url: workflowUrl,
};

type History = { readonly timeline: readonly TimelineEntry[]; readonly statusQueries: StatusQueries | null };

export function historyObject({ timeline, statusQueries }: History, workflowLink: string | undefined) {
  return {
    timeline: timeline.map(entryObject),
    status_queries: statusQueriesObject(statusQueries),
    workflow_url: workflowLink ?? null,
  };
}

function entryObject(one: TimelineEntry): z.input<typeof timelineEntry> {
  const at = one.at.toISOString();
  switch (one.kind) {
    case 'state': {
      const { state, previousState, isLate, eventId, by } = one.detail;
      return { kind: one.kind, at, state, previous_state: previousState, late: isLate, event_id: eventId, by };
    }
    case 'approval':
      return { kind: one.kind, at, person: one.detail };
    case 'operator_exchange': {
      const { paymentId, kind: exchange, outcome, failureCode, durationMs } = one.detail;
      const about = { payment_id: paymentId, exchange, outcome, failure_code: failureCode };
      return { kind: one.kind, at, ...about, duration_ms: durationMs };
    }
    case 'operator_callback':
      return { kind: one.kind, at, purpose: one.detail };
    case 'float_low': {
      const { operator: by, operatorReference: reference, sendAfter, isWaiting } = one.detail;
      const sentAgain = { operator_reference: reference, send_after: sendAfter.toISOString(), waiting: isWaiting };
      return { kind: one.kind, at, operator: by, ...sentAgain };
    }
    case 'operator_delayed':
      return { kind: one.kind, at, operator: one.detail.operator, sent: one.detail.isSendBegun };
    case 'ledger_transfer': {
      const { kind: transfer, amountMinor, availableMinor, heldMinor } = one.detail;
      const changes = { available_change: Number(availableMinor), held_change: Number(heldMinor) };
      return { kind: one.kind, at, transfer, amount: Number(amountMinor), ...changes };
    }
    case 'delivery': {
      const attempts = one.detail.attempts.map((attempt) => wireObject(deliveryAttempt, attempt));
      return wireObject(deliveryEntry, { ...one.detail, kind: one.kind, at, attempts });
    }
    case 'discrepancy': {
      const { kind: discrepancy, settledAt, settlement } = one.detail;
      return { kind: one.kind, at, discrepancy, settled_at: settledAt?.toISOString() ?? null, settlement };
    }
    case 'reversal':
      return { kind: one.kind, at, id: one.detail.id, state: one.detail.state, requested_by: one.detail.requestedBy };
  }
}
