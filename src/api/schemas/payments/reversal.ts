// Reversals on the wire.
import { z } from 'zod';
import { REVERSAL_STATES } from '../../../domain/payments/reversal.ts';
import { idOf, time } from '../primitives.ts';
import { failure, operatorReference, userId } from './payment.ts';

export const reversalSchema = z
  .strictObject({
    id: idOf('rev'),
    collection_id: idOf('col'),
    state: z.enum(REVERSAL_STATES),
    failure,
    operator_reference: operatorReference.meta({ description: 'What the operator knows the refund by.' }),
    requested_by: userId,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Reversal' });
