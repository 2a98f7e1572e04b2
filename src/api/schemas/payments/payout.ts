// Payouts on the wire.
import { z } from 'zod';
import { APPROVAL_STATES, PAYOUT_STATES, type PayoutState } from '../../../domain/payments/payout.ts';
import { isId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { failure, operator, paymentFields, paymentFilters, userId } from './payment.ts';
import { printable, time } from '../primitives.ts';

const state = z.enum(PAYOUT_STATES as [PayoutState, ...PayoutState[]]).meta({ id: 'PayoutState' });
const approvalState = z.enum(APPROVAL_STATES).meta({ id: 'ApprovalState' });

export const createPayoutSchema = z.strictObject(paymentFields).meta({ id: 'CreatePayout' });

export const payoutSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^pay_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      .meta({ example: 'pay_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
    state,
    approval_state: approvalState,
    amount: z.int().min(1),
    currency: z.string().regex(/^[A-Z]{3}$/),
    reference: z.string(),
    phone: z.string(),
    operator,
    description: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    failure: failure.meta({ description: 'Why the operator did not pay.' }),
    operator_reference: z.uuid().meta({ description: 'What the operator knows the payment by.' }),
    amount_reversed: z.int().min(0),
    created_by: userId.meta({ description: 'The person who asked, or who made the key that asked.' }),
    approvals_required: z.int().min(1).meta({ description: 'How many other people must release it.' }),
    approvals: z.array(z.strictObject({ user_id: userId, approved_at: time })).meta({ description: 'Oldest first.' }),
    rejection_reason: z.string().nullable(),
    created_at: time,
    updated_at: time,
    expires_at: time.meta({ description: 'From then on it cannot be released.' }),
  })
  .meta({ id: 'Payout' });

export const payoutListSchema = pageSchema(payoutSchema, 'PayoutList');

export const listPayoutsSchema = z.strictObject({
  ...pageQuery((id) => isId('pay', id)).shape,
  ...paymentFilters,
  state: state.optional(),
  approval_state: approvalState.optional(),
});

export const rejectPayoutSchema = z
  .strictObject({ reason: printable('reason', 200).meta({ description: 'Why; the maker reads it.' }) })
  .meta({ id: 'RejectPayout' });

export const MAX_RELEASES = 100;

export const releasePayoutsSchema = z
  .strictObject({
    ids: z
      .array(z.string({ error: 'ids must be a list of payout ids.' }), { error: 'ids must be a list of payout ids.' })
      .min(1, { error: 'ids must name at least one payout.' })
      .max(MAX_RELEASES, { error: `ids can name at most ${MAX_RELEASES} payouts.` })
      .refine((ids) => new Set(ids).size === ids.length, { error: 'ids must name each payout once.' }),
  })
  .meta({ id: 'ReleasePayouts' });

export const releasedPayoutsSchema = z
  .strictObject({
    data: z.array(
      z.strictObject({
        id: z.string(),
        payout: payoutSchema.nullable().meta({ description: 'As it stands after the approval; null when refused.' }),
        error: z
          .strictObject({ code: z.string(), message: z.string() })
          .nullable()
          .meta({ description: 'Why this one was refused.' }),
      }),
    ),
  })
  .meta({ id: 'ReleasedPayouts' });
