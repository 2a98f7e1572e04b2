// A list of payouts to check before any of them is created.
import { z } from 'zod';
import type { ParameterIssue } from '../../../domain/errors.ts';
import type { KeysOutcome } from '../../../operations/payments/judge-planned-payouts.ts';
import type { OperatorId } from '../../../domain/payments/operator-catalogue.ts';
import type { PayoutJudgement } from '../../../domain/payments/payout-warnings.ts';
import { idOf, objectSchema, time } from '../primitives.ts';
import { judgementObject, judgementSchema } from './console-payout.ts';
import { operator } from './payment.ts';
import { payoutState } from './payout.ts';

export const MAX_CHECKED = 100;
/** A row needs another key only if the balance was too low under the previous key. */
const MAX_KEYS = 4;

const key = z
  .string({ error: 'an idempotency key must be text.' })
  .regex(/^[\x21-\x7e]{1,255}$/, { error: 'an idempotency key must be 1 to 255 visible ASCII characters.' });

const rowSchema = objectSchema('PayoutToCheck', {
  idempotency_keys: z
    .array(key, { error: 'idempotency_keys must be a list of keys.' })
    .min(1, { error: 'idempotency_keys must name at least one key.' })
    .max(MAX_KEYS, { error: `idempotency_keys can name at most ${MAX_KEYS} keys.` })
    .meta({
      description: 'Keys to choose from. The payout is to be created under the first key that has no stored result.',
      example: ['salaries-11-7'],
    }),
  payout: z
    .record(z.string(), z.unknown(), { error: 'payout must be an object of fields.' })
    .meta({
      description: 'As `CreatePayout`. Faults of the payout are reported in the response; the request is not refused.',
    })
    .meta({ example: { phone: '256772123456', amount: 5000, reference: 'SAL-11-7' } }),
});

export const checkPayoutsSchema = objectSchema('CheckPayouts', {
  rows: z
    .array(rowSchema, { error: 'rows must be a list of payouts.' })
    .min(1, { error: 'rows must name at least one payout.' })
    .max(MAX_CHECKED, { error: `rows can name at most ${MAX_CHECKED} payouts.` }),
});

export const checkedPayoutsSchema = objectSchema('CheckedPayouts', {
  data: z.array(
    objectSchema('CheckedPayout', {
      errors: z
        .array(z.strictObject({ param: z.string(), code: z.string(), message: z.string() }))
        .meta({ description: 'Why the payout would be refused. Empty: it would not be refused.', example: [] }),
      operator: operator
        .nullable()
        .meta({ description: 'The operator that would pay it. Null: none, or the payout has errors.' }),
      payout: z
        .strictObject({ id: idOf('pay'), state: payoutState, created_at: time })
        .nullable()
        .meta({ description: 'The newest payout that was created under one of its keys.' }),
      idempotency_key: z
        .string()
        .nullable()
        .meta({ description: 'The key to create it under. Null: all keys were used.', example: 'salaries-11-7' }),
      judgement: judgementSchema.nullable().meta({
        description: 'The warnings that an approver would get at present. Null: the payout has errors.',
      }),
    }),
  ),
});

export type CheckedRow = KeysOutcome & {
  readonly operator: OperatorId | null;
  readonly issues: readonly ParameterIssue[];
  /** Null: the payout has issues. */
  readonly judgement: PayoutJudgement | null;
};

export function checkedPayoutObject({ operator, issues, payout, unusedKey, judgement }: CheckedRow) {
  return {
    errors: issues.map(({ param, code, message }) => ({ param, code, message })),
    operator,
    payout: payout && { id: payout.id, state: payout.state, created_at: payout.createdAt.toISOString() },
    idempotency_key: unusedKey,
    judgement: judgement && judgementObject(judgement),
  };
}
