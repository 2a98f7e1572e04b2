// Collections on the wire.
import { z } from 'zod';
import { COLLECTION_STATES, type CollectionState } from '../../../domain/payments/collection.ts';
import type { PaymentRequest } from '../../../domain/payments/payment-request.ts';
import { FAILURE_CODES, type FailureCode } from '../../../domain/payments/failure.ts';
import { isId } from '../../../domain/ids.ts';
import { OPERATORS, type OperatorId } from '../../../domain/payments/operator-catalogue.ts';
import type { CodesByParameter } from '../../validation.ts';
import { amount, instant, metadata, phone, printable, time } from '../primitives.ts';

const state = z.enum(COLLECTION_STATES as [CollectionState, ...CollectionState[]]).meta({ id: 'CollectionState' });

/** What collections and payouts are asked for with. */
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

export const collectionListSchema = z
  .strictObject({
    data: z.array(collectionSchema),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().meta({ description: 'Send it as `cursor` for the next page.' }),
  })
  .meta({ id: 'CollectionList' });

/** The query of a list of payments whose ids have this prefix. */
export function listFields<Prefix extends 'col' | 'pay'>(prefix: Prefix) {
  return {
    limit: z
      .string()
      .regex(/^[0-9]{1,9}$/, { error: 'limit must be a whole number from 1 to 100.' })
      .transform(Number)
      .refine((limit) => limit >= 1 && limit <= 100, { error: 'limit must be a whole number from 1 to 100.' })
      .default(20)
      .meta({ description: '1 to 100.', override: { type: 'integer', minimum: 1, maximum: 100, default: 20 } }),
    cursor: z
      .string()
      .refine((text) => readCursor(prefix, text) !== null, {
        error: 'This cursor is not one of ours. Start again without it.',
      })
      .transform((text) => readCursor(prefix, text) ?? undefined)
      .optional()
      .meta({ description: '`next_cursor` of the page before.' }),
    reference: printable('reference', 100).optional(),
    phone: z
      .string()
      .regex(/^[1-9][0-9]{7,14}$/, { error: 'phone must be digits only, country code first.' })
      .optional(),
    created_from: instant('created_from').optional().meta({ description: 'Inclusive. RFC 3339.' }),
    created_to: instant('created_to').optional().meta({ description: 'Exclusive. RFC 3339.' }),
  };
}

export const listCollectionsSchema = z.strictObject({ ...listFields('col'), state: state.optional() });

export const LIST_CODES: CodesByParameter = { cursor: { any: 'cursor_invalid' } };

type ListQuery<Id extends string> = {
  readonly cursor?: Id | undefined;
  readonly reference?: string | undefined;
  readonly phone?: string | undefined;
  readonly created_from?: Date | undefined;
  readonly created_to?: Date | undefined;
};

/** The filters that every list of payments has. */
export function paymentFilter<Id extends string>(query: ListQuery<Id>) {
  return {
    ...(query.reference !== undefined && { reference: query.reference }),
    ...(query.phone !== undefined && { phone: query.phone }),
    ...(query.created_from !== undefined && { createdFrom: query.created_from }),
    ...(query.created_to !== undefined && { createdTo: query.created_to }),
    ...(query.cursor !== undefined && { before: query.cursor }),
  };
}

/** The envelope of a page; `nextBefore` is the last id of one that others follow. */
export function listBody<Item>(data: readonly Item[], nextBefore: string | null) {
  return {
    data,
    has_more: nextBefore !== null,
    next_cursor: nextBefore === null ? null : writeCursor(nextBefore),
  };
}

/** Opaque to callers: it holds the last id of the page. */
function writeCursor(lastId: string): string {
  return Buffer.from(lastId).toString('base64url');
}

function readCursor<Prefix extends 'col' | 'pay'>(prefix: Prefix, text: string) {
  const id = Buffer.from(text, 'base64url').toString('latin1');
  return isId(prefix, id) && writeCursor(id) === text ? id : null;
}
