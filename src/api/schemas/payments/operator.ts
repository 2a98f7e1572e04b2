// The operators that a deployment reaches, on the wire.
import { z } from 'zod';
import { PRODUCTS, type OpenBreaker, type Product } from '../../../domain/payments/breaker.ts';
import { objectSchema, time } from '../primitives.ts';
import { OPERATORS, type Coverage, type Market, type OperatorId } from '../../../domain/payments/operator-catalogue.ts';
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
  services: z
    .array(
      z.strictObject({
        service: z.enum(['collections', 'money_out']).meta({ description: '`money_out`: payouts and refunds.' }),
        availability: z.enum(['open', 'delayed', 'closed']).meta({
          description:
            '`open`: it takes payments as usual. `delayed`: it takes no calls now, and what is made waits for it. `closed`: the same, until ' +
            'the staff of the service open it again.',
          example: 'open',
        }),
        since: time.nullable().meta({ description: 'Null: it is open.', example: null }),
      }),
    )
    .meta({ description: 'What each operator does for the service, and whether it does so now.' }),
});

export const operatorListSchema = objectSchema('OperatorList', { data: z.array(operatorSchema) });

type Breaker = OpenBreaker & { readonly operator: string };

export function operatorListObject(
  coverage: Coverage,
  breakers: readonly Breaker[],
): z.input<typeof operatorListSchema> {
  const entries = Object.entries(coverage) as [OperatorId, readonly Market[]][];
  return {
    data: entries.map(([id, markets]) => ({
      id,
      name: OPERATORS[id].name,
      markets: markets.map((market) => ({ country: market.country, currency: market.currency })),
      services: PRODUCTS.map((product) =>
        serviceObject(
          product,
          breakers.find((breaker) => breaker.operator === id && breaker.product === product),
        ),
      ),
    })),
  };
}

function serviceObject(product: Product, breaker: Breaker | undefined) {
  const service = product === 'collection' ? ('collections' as const) : ('money_out' as const);
  if (breaker === undefined) return { service, availability: 'open' as const, since: null };
  const availability = breaker.cause === 'staff' ? ('closed' as const) : ('delayed' as const);
  return { service, availability, since: breaker.openedAt.toISOString() };
}
