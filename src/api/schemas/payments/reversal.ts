// Reversals on the wire.
import { z } from 'zod';
import { REVERSAL_STATES } from '../../../domain/payments/reversal.ts';
import { time } from '../primitives.ts';
import { failure, userId } from './payment.ts';

export const reversalSchema = z
  .strictObject({
    id: z.string().regex(/^rev_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
    collection_id: z.string(),
    state: z.enum(REVERSAL_STATES),
    failure,
    operator_reference: z.uuid().meta({ description: 'What the operator knows the refund by.' }),
    requested_by: userId,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Reversal' });
