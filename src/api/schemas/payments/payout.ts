// Payouts on the wire.
import { z } from 'zod';
import { PAYOUT_STATES } from '../../../domain/payments/payout.ts';
import { isId } from '../../../domain/ids.ts';
import type { PaymentRequest } from '../../../domain/payments/payment-request.ts';
import { pageQuery, pageSchema } from '../page.ts';
import {
  approvalFields,
  approvalState,
  idempotencyKeyFilter,
  paymentFields,
  paymentFilters,
  shownFields,
  userId,
} from './payment.ts';
import { idOf, objectSchema, printable } from '../primitives.ts';

export const payoutState = z.enum(PAYOUT_STATES).meta({ id: 'PayoutState' });

export const createPayoutSchema = objectSchema('CreatePayout', {
  ...paymentFields,
  payee_name: printable('payee_name', 100).optional().meta({
    description: 'The name of the payee as you know it. An approver is warned where the operator has another one.',
    example: 'Jane Nakato',
  }),
});

/** For a checked body of a payout or a collection. A collection has no field that a payout lacks. */
export function toPaymentRequest(body: z.output<typeof createPayoutSchema>): PaymentRequest {
  const { amount, currency = null, description = null, metadata = {}, payee_name: payeeName, ...others } = body;
  const request = { ...others, amountMinor: BigInt(amount), currency, description, metadata };
  return payeeName === undefined ? request : { ...request, payeeName };
}

export const payoutSchema = objectSchema('Payout', {
  id: idOf('pay'),
  state: payoutState,
  approval_state: approvalState,
  ...shownFields('Why the operator did not pay.'),
  payee_name: z.string().nullable().meta({ example: 'Jane Nakato', description: 'As it was requested.' }),
  created_by: userId.meta({ description: 'The person who requested it, or the creator of the key that did.' }),
  ...approvalFields,
});

export const payoutListSchema = pageSchema(payoutSchema, 'PayoutList');

export const listPayoutsSchema = z.strictObject({
  ...pageQuery((id) => isId('pay', id)).shape,
  ...paymentFilters,
  state: payoutState.optional(),
  approval_state: approvalState.optional(),
  idempotency_key: idempotencyKeyFilter,
});

export const MAX_RELEASES = 100;

export const releasePayoutsSchema = objectSchema('ReleasePayouts', {
  ids: z
    .array(
      z.string({ error: 'ids must be a list of payout ids.' }).meta({ example: 'pay_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
      { error: 'ids must be a list of payout ids.' },
    )
    .min(1, { error: 'ids must name at least one payout.' })
    .max(MAX_RELEASES, { error: `ids can name at most ${MAX_RELEASES} payouts.` })
    .refine((ids) => new Set(ids).size === ids.length, { error: 'ids must name each payout once.' })
    .meta({ uniqueItems: true }),
});

export const releasedPayoutsSchema = objectSchema('ReleasedPayouts', {
  data: z.array(
    z.strictObject({
      id: z.string().meta({ description: 'The id as given.', example: 'pay_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
      payout: payoutSchema.nullable().meta({ description: 'The payout after the approval. Null if refused.' }),
      error: z
        .strictObject({
          code: z.string().meta({ example: 'payout_not_found' }),
          message: z.string().meta({ example: 'There is no payout with this id.' }),
        })
        .nullable()
        .meta({ description: 'Why this one was refused.' }),
    }),
  ),
});
