// What collections and payouts have in common on the wire.
import { z } from 'zod';
import { APPROVAL_STATES, type ApprovalState } from '../../../domain/payments/approval.ts';
import { FAILURE_CODES } from '../../../domain/payments/failure.ts';
import { OPERATOR_IDS } from '../../../domain/payments/operator-catalogue.ts';
import { definedFields, type CodesByParameter } from '../../validation.ts';
import { rangeOf, timeFilters } from '../page.ts';
import type { StatusQueries } from '../../../db/work/status-queries.ts';
import { amount, formatAlone, idOf, metadata, objectSchema, phone, printable, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

export const operator = z.enum(OPERATOR_IDS);

/** The fields of a request for a collection or a payout. */
export const paymentFields = {
  phone,
  amount,
  reference: printable('reference', 100).meta({
    description: 'Your reference, which need not be unique.',
    example: 'INV-1042',
  }),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, { error: 'currency must be a code of three capital letters.' })
    .optional()
    .meta({ description: 'The currency of your account. May be omitted.', example: 'UGX' }),
  description: printable('description', 120)
    .optional()
    .meta({ description: 'Shown to the payer or payee.', example: 'Two bags of maize' }),
  metadata: metadata.optional(),
  operator: z
    .enum(OPERATOR_IDS, { error: `operator must be one of: ${OPERATOR_IDS.join(', ')}.` })
    .optional()
    .meta({
      description:
        'The operator that has the phone, if you know it, because numbers are ported. Default: the operator is derived from the prefix.',
    }),
};

export const CREATE_PAYMENT_CODES: CodesByParameter = {
  phone: { any: 'phone_invalid' },
  amount: { range: 'amount_out_of_bounds' },
};

/** The errors of the creation of a payment, besides those of every idempotent request with a body. */
export const CREATE_PAYMENT_ERRORS = ['phone_invalid', 'phone_unsupported', 'amount_out_of_bounds'] as const;

export const userId = idOf('usr');
export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .meta({ example: 'UGX' });
export const operatorReference = z.uuid().meta({
  example: '0190f5fe-7c00-7a00-8000-000000000000',
  override: formatAlone,
});
/** What people gave, in responses. */
export const shownAmount = z.int().min(1).meta({ example: 5000 });
export const shownReference = z.string().meta({ example: 'INV-1042' });
export const shownPhone = z.string().meta({ example: '256772123456' });
export const shownDescription = z.string().nullable().meta({ example: 'Two bags of maize' });
export const shownMetadata = z.record(z.string(), z.string()).meta({ example: { order: '1042' } });

export const statusQueriesSchema = objectSchema('StatusQueries', {
  count: z
    .int()
    .meta({ description: 'How often the operator was asked since the payment came into its state.', example: 3 }),
  last_at: time.nullable().meta({ description: 'When the operator was asked last, in whichever state.' }),
  next_at: time.nullable().meta({ description: 'When it is asked next by schedule. Null: it is being asked now.' }),
});

export const shownCancellable = z.boolean().meta({
  description: 'Whether its maker may still cancel it: it is `queued`, or `released` and nobody has tried to send it.',
  example: false,
});

export const shownStatusQueries = statusQueriesSchema.nullable().meta({
  description:
    'How the operator is asked for the status by schedule. Null: it is not, because nothing more is awaited or the payment was not sent yet.',
});

export function statusQueriesObject(statusQueries: StatusQueries | null) {
  if (statusQueries === null) return null;
  const { queries: count, queriedAt: lastAt, dueAt: nextAt } = statusQueries;
  return wireObject(statusQueriesSchema, { count, lastAt, nextAt });
}

export const workflowUrl = z.url().nullable().meta({
  example: null,
  description: 'Its workflow in the Temporal UI, for developers and admins, in a test environment with a Temporal UI.',
});

export const shownReceipt = z.string().nullable().meta({
  example: '10480123456',
  description:
    'The operator’s own number for the payment, as on its statements. Null: the operator has not paid, or has not told the number yet.',
});

export const shownIdempotencyKey = z.string().meta({ example: 'order-1042' });

export const failure = z
  .strictObject({
    code: z.enum(FAILURE_CODES),
    message: z.string(),
  })
  .nullable()
  .meta({ example: null });

/** The fields of a collection or a payout, besides its states, people and times. */
export function shownFields(whatFailureSays: string) {
  return {
    amount: shownAmount,
    currency,
    reference: shownReference,
    phone: shownPhone,
    operator,
    description: shownDescription,
    metadata: shownMetadata,
    failure: failure.meta({ example: null, description: whatFailureSays }),
    operator_reference: operatorReference.meta({ description: 'Our reference for the payment at the operator.' }),
    amount_reversed: z.int().min(0).meta({ example: 0 }),
  };
}

export const approvalState = z.enum(APPROVAL_STATES).meta({ id: 'ApprovalState' });

/** The last fields of a payout or refund. */
export const approvalFields = {
  approvals_required: z.int().min(1).meta({ example: 1, description: 'How many other people must release it.' }),
  approvals: z
    .array(z.strictObject({ user_id: userId, approved_at: time }))
    .meta({ example: [], description: 'Oldest first.' }),
  rejection_reason: z.string().nullable().meta({ example: null }),
  created_at: time,
  updated_at: time,
  expires_at: time.meta({ description: 'After this time it cannot be released.' }),
};

type StateFilters<State> = {
  readonly state?: State | undefined;
  readonly approval_state?: ApprovalState | undefined;
};

/** The states that pass both filters, which apply to the one state that is recorded. Null: any state. */
export function wantedStates<State>(
  { state, approval_state: approval }: StateFilters<State>,
  statesOf: (approval: ApprovalState) => State[],
): State[] | null {
  const ofApproval = approval === undefined ? null : statesOf(approval);
  if (state === undefined) return ofApproval;
  return ofApproval === null || ofApproval.includes(state) ? [state] : [];
}
/** The filters that every list of payments has. */
export const paymentFilters = {
  reference: printable('reference', 100).optional().meta({ example: 'INV-1042' }),
  phone: z
    .string()
    .regex(/^[1-9][0-9]{7,14}$/, { error: 'phone must be digits only, country code first.' })
    .optional()
    .meta({ example: '256772123456' }),
  ...timeFilters,
};

/** Only one payment has it, unless it was used again after 30 days. */
export const idempotencyKeyFilter = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, { error: 'idempotency_key must be 1 to 255 visible ASCII characters.' })
  .optional()
  .meta({ description: 'The `Idempotency-Key` of the request that created it.', example: 'order-1042' });

type PaymentQuery<Id extends string> = Parameters<typeof rangeOf<Id>>[0] & {
  readonly reference?: string | undefined;
  readonly phone?: string | undefined;
  readonly idempotency_key?: string | undefined;
};

/** These filters and the cursor in the form that queries take. */
export function paymentFilter<Id extends string>(query: PaymentQuery<Id>) {
  const { reference, phone, idempotency_key: idempotencyKey } = query;
  return { ...definedFields({ reference, phone, idempotencyKey }), ...rangeOf(query) };
}
