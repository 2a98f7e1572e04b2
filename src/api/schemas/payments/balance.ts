// The balance on the wire.
import { z } from 'zod';
import { objectSchema } from '../primitives.ts';
import { currency } from './payment.ts';

export const balanceSchema = objectSchema('Balance', {
  available: z
    .int()
    .meta({ description: 'The amount that can be paid out. Below zero: a debt after a reversal.', example: 125000 }),
  held: z.int().min(0).meta({ description: 'The amount reserved for payouts in progress.', example: 0 }),
  currency,
});

type Balance = { readonly availableMinor: bigint; readonly heldMinor: bigint; readonly currency: string };

export function balanceObject({ availableMinor, heldMinor, currency }: Balance): z.input<typeof balanceSchema> {
  return { available: Number(availableMinor), held: Number(heldMinor), currency };
}
