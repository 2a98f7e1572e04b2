// The operators that a deployment reaches, on the wire.
import { z } from 'zod';
import { PRODUCTS, type OpenBreaker, type Product } from '../../../domain/payments/breaker.ts';
import { objectSchema, time } from '../primitives.ts';
import type { AmountRules } from '../../../domain/payments/amount-rules.ts';
import {
  OPERATORS,
  reachedOperators,
  type Coverage,
  type Market,
  type OperatorId,
} from '../../../domain/payments/operator-catalogue.ts';
import { approvalsUssd } from '../../pay/operator-instructions.ts';
import { say } from '../../pay/texts.ts';
import { currency, operator } from './payment.ts';

const amountRulesSchema = objectSchema('AmountRules', {
  min_amount: z.int().min(1).meta({ description: 'The least, in the smallest unit of the currency.', example: 100 }),
  max_amount: z
    .int()
    .min(1)
    .meta({ description: 'The most, in the smallest unit of the currency.', example: 5_000_000 }),
  amount_step: z.int().min(1).meta({
    description: 'Every amount is a multiple of it. Another amount is refused, and never rounded.',
    example: 1,
  }),
});

const marketSchema = objectSchema('OperatorMarket', {
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .meta({ description: 'ISO 3166-1 alpha-2.', example: 'UG' }),
  currency,
  collections: amountRulesSchema,
  payouts: amountRulesSchema,
  approvals_ussd: z.string().nullable().meta({
    description:
      'What a payer dials for the requests that wait for approval. Null: the operator’s menu or app has them.',
    example: '*165#',
  }),
  prompt_help: z.string().meta({
    description: 'What the checkout tells a payer who sees no request on the phone, in English.',
    example: 'No request there? Dial *165# and look for approvals that wait for you.',
  }),
});

const operatorSchema = objectSchema('Operator', {
  id: operator.meta({ description: 'The id that payments and requests use.' }),
  name: z.string().meta({ example: 'MTN MoMo' }),
  refunds: z.boolean().meta({
    description: 'Whether collections there can be refunded. A refund returns the whole amount, and no part of it.',
    example: true,
  }),
  markets: z.array(marketSchema).meta({ description: 'The markets in which this deployment reaches the operator.' }),
  services: z
    .array(
      z.strictObject({
        service: z.enum(['collections', 'money_out']).meta({ description: '`money_out`: payouts and refunds.' }),
        availability: z.enum(['open', 'delayed', 'closed']).meta({
          description:
            '`open`: it takes payments as usual. `delayed`: it takes no calls now, and new payments wait for it. `closed`: as `delayed`, until ' +
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
  return {
    data: reachedOperators(coverage).map((id) => ({
      id,
      name: OPERATORS[id].name,
      refunds: OPERATORS[id].capabilities.refund !== null,
      markets: coverage[id].map((market) => marketObject(id, market)),
      services: PRODUCTS.map((product) =>
        serviceObject(
          product,
          breakers.find((breaker) => breaker.operator === id && breaker.product === product),
        ),
      ),
    })),
  };
}

function marketObject(id: OperatorId, { country, currency, amounts }: Market) {
  const ussd = approvalsUssd(id, country);
  return {
    country,
    currency,
    collections: amountRulesObject(amounts.collection),
    payouts: amountRulesObject(amounts.payout),
    approvals_ussd: ussd,
    prompt_help: say('en', ussd === null ? 'steps.menu' : 'steps.dial', {
      operator: OPERATORS[id].name,
      ussd: ussd ?? '',
    }),
  };
}

function amountRulesObject({ minAmountMinor, maxAmountMinor, stepMinor }: AmountRules) {
  return {
    min_amount: Number(minAmountMinor),
    max_amount: Number(maxAmountMinor),
    amount_step: Number(stepMinor),
  };
}

function serviceObject(product: Product, breaker: Breaker | undefined) {
  const service = product === 'collection' ? ('collections' as const) : ('money_out' as const);
  if (breaker === undefined) return { service, availability: 'open' as const, since: null };
  const availability = breaker.cause === 'staff' ? ('closed' as const) : ('delayed' as const);
  return { service, availability, since: breaker.openedAt.toISOString() };
}
