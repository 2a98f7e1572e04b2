// Collections on the wire.
import { z } from 'zod';
import { COLLECTION_STATES, type CollectionState } from '../../../domain/payments/collection.ts';
import type { PaymentRequest } from '../../../domain/payments/payment-request.ts';
import { FAILURE_CODES, type FailureCode } from '../../../domain/payments/failure.ts';
import { isId } from '../../../domain/ids.ts';
import { OPERATORS, type OperatorId } from '../../../domain/payments/operator-catalogue.ts';
import { definedFields, type CodesByParameter } from '../../validation.ts';
import { pageQuery, pageSchema, rangeOf, timeFilters } from '../page.ts';
import { amount, metadata, phone, printable, time } from '../primitives.ts';

const state = z.enum(COLLECTION_STATES as [CollectionState, ...CollectionState[]]).meta({ id: 'CollectionState' });

/** The fields of a request for a collection or a payout. */
export const paymentFields = {
  phone,
  amount,
  reference: printable('reference', 100).meta({ description: 'Yours; need not be unique.', example: 'INV-1042' }),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, { error: 'currency must be a code of three capital letters.' })
    .optional()
    .meta({ description: 'Your account’s currency, if given at all.', example: 'UGX' }),
  description: printable('description', 120).optional().meta({ description: 'Shown to whoever pays or is paid.' }),
  metadata: metadata.optional(),
};

export const createCollectionSchema = z.strictObject(paymentFields).meta({ id: 'CreateCollection' });

export const CREATE_PAYMENT_CODES: CodesByParameter = {
  phone: { any: 'phone_invalid' },
  amount: { range: 'amount_out_of_bounds' },
};

/** The errors of the creation of a payment, besides those of every idempotent request with a body. */
export const CREATE_PAYMENT_ERRORS = ['phone_invalid', 'phone_unsupported', 'amount_out_of_bounds'] as const;

export function toPaymentRequest(body: z.output<typeof createCollectionSchema>): PaymentRequest {
  return {
    phone: body.phone,
    amountMinor: BigInt(body.amount),
    reference: body.reference,
    currency: body.currency ?? null,
    description: body.description ?? null,
    metadata: body.metadata ?? {},
  };
}

export const operator = z.enum(Object.keys(OPERATORS) as [OperatorId, ...OperatorId[]]);
export const failure = z
  .strictObject({ code: z.enum(FAILURE_CODES as [FailureCode, ...FailureCode[]]), message: z.string() })
  .nullable();

export const collectionSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^col_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      .meta({ example: 'col_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
    state,
    amount: z.int().min(1),
    currency: z.string().regex(/^[A-Z]{3}$/),
    reference: z.string(),
    phone: z.string(),
    operator,
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    failure: failure.meta({ description: 'Why it failed or expired.' }),
    operator_reference: z.uuid().meta({ description: 'What the operator knows the payment by.' }),
    amount_reversed: z.int().min(0),
    created_at: time,
    updated_at: time,
    prompt_expires_at: time.nullable().meta({ description: 'Null until the operator took the prompt.' }),
  })
  .meta({ id: 'Collection' });

export const collectionListSchema = pageSchema(collectionSchema, 'CollectionList');

/** The filters that every list of payments has. */
export const paymentFilters = {
  reference: printable('reference', 100).optional(),
  phone: z
    .string()
    .regex(/^[1-9][0-9]{7,14}$/, { error: 'phone must be digits only, country code first.' })
    .optional(),
  ...timeFilters,
};

type PaymentQuery<Id extends string> = Parameters<typeof rangeOf<Id>>[0] & {
  readonly reference?: string | undefined;
  readonly phone?: string | undefined;
};

/** These filters and the cursor in the form that queries take. */
export function paymentFilter<Id extends string>(query: PaymentQuery<Id>) {
  return { ...definedFields({ reference: query.reference, phone: query.phone }), ...rangeOf(query) };
}

export const listCollectionsSchema = z.strictObject({
  ...pageQuery((id) => isId('col', id)).shape,
  ...paymentFilters,
  state: state.optional(),
});
