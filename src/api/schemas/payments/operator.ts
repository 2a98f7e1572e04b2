// The operators that a deployment reaches, on the wire.
import { z } from 'zod';
import { objectSchema } from '../primitives.ts';
import { OPERATORS, reachedOperators, type Coverage } from '../../../domain/payments/operator-catalogue.ts';
import { currency, operator } from './payment.ts';

const operatorSchema = objectSchema('Operator', {
  id: operator.meta({ description: 'The id that payments and requests use.' }),
  name: z.string().meta({ example: 'MTN MoMo' }),
  markets: z
    .array(
      z.strictObject({
        country: z
          .string()
          .regex(/^[A-Z]{2}$/)
          .meta({ description: 'ISO 3166-1 alpha-2.', example: 'UG' }),
        currency,
      }),
    )
    .meta({ description: 'The markets in which this deployment reaches the operator.' }),
});

export const operatorListSchema = objectSchema('OperatorList', { data: z.array(operatorSchema) });

export function operatorListObject(coverage: Coverage): z.input<typeof operatorListSchema> {
  return {
    data: reachedOperators(coverage).map((id) => ({
      id,
      name: OPERATORS[id].name,
      markets: coverage[id].map((market) => ({ country: market.country, currency: market.currency })),
    })),
  };
}
