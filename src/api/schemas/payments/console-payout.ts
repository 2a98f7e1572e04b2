// Payouts as people see them in the console: with names, and with the judgement for an approver.
import { z } from 'zod';
import {
  MAX_EARLIER,
  type EarlierPayouts,
  type PayoutJudgement,
  type PayoutWarning,
} from '../../../domain/payments/payout-warnings.ts';
import { payoutObject, statesOfApproval, type PayoutState } from '../../../domain/payments/payout.ts';
import { holdsOneOf, type Person } from '../../../domain/accounts/member.ts';
import type { ListFilter } from '../../../domain/payments/payment-list.ts';
import type { ConsolePayout } from '../../../operations/payments/read-console-payments.ts';
import { knownPerson } from '../accounts/person.ts';
import { pageSchema } from '../page.ts';
import { idOf, objectSchema, time } from '../primitives.ts';
import { consoleFilter, consoleQueries, statesInAll, knownKey } from './console-list.ts';
import {
  approvalState,
  shownAmount,
  shownIdempotencyKey,
  shownPhone,
  shownReceipt,
  shownCancellable,
} from './payment.ts';
import { decisionFields, decisionObject, namedApprovalObject, namedApprovals } from './decision.ts';
import { payoutSchema, payoutState } from './payout.ts';
import { historyFields } from './timeline.ts';

const payeeName = z.string().meta({ example: 'JANE NAKATO' });

const earlierPayoutsSchema = z
  .strictObject({
    count: z.int().min(0).max(MAX_EARLIER),
    at_least: z
      .boolean()
      .meta({ description: `Whether there may be more. Counting stops at ${MAX_EARLIER}.`, example: false }),
    last: z
      .strictObject({ id: idOf('pay'), created_at: time, amount: shownAmount, state: payoutState })
      .nullable()
      .meta({ description: 'The time of the newest one.' }),
  })
  .meta({ id: 'EarlierPayouts', description: 'Other payouts to this number that are paid or in progress.' });

const payoutWarningSchema = z
  .discriminatedUnion('code', [
    z.strictObject({ code: z.literal('first_payout_to_number') }).meta({
      id: 'FirstPayoutToNumber',
      description: 'No payout to this number was sent before, or all of them failed.',
    }),
    z
      .strictObject({
        code: z.literal('same_number_and_amount_within_24h'),
        payout_id: idOf('pay'),
        created_at: time,
        state: payoutState,
      })
      .meta({
        id: 'SameNumberAndAmountWithin24h',
        description: 'Another payout of this amount to this number, queued or sent, was created within 24 hours of it.',
      }),
    z.strictObject({ code: z.literal('number_changed_since_last'), payout_id: idOf('pay'), phone: shownPhone }).meta({
      id: 'NumberChangedSinceLast',
      description: 'The last payouts with this reference, up to 20, all went to one other number.',
    }),
    z
      .strictObject({
        code: z.literal('above_usual'),
        usual_amount: shownAmount,
        times: z.int().min(1).meta({ example: 5 }),
      })
      .meta({
        id: 'AboveUsual',
        description:
          'More than `times` times `usual_amount`: the median of the newest 500 payouts that succeeded within 90 days, ' +
          'if there are at least ten.',
      }),
    z.strictObject({ code: z.literal('payee_name_differs'), typed: payeeName, name: payeeName }).meta({
      id: 'PayeeNameDiffers',
      description: 'The operator has another name for the number than the maker typed.',
    }),
  ])
  .meta({ id: 'PayoutWarning' });

export const judgementSchema = objectSchema('PayoutJudgement', {
  earlier_payouts: earlierPayoutsSchema,
  payee: z
    .strictObject({
      name: payeeName.nullable().meta({ description: 'As the operator writes it. Null: it has none.' }),
      asked_at: time,
    })
    .nullable()
    .meta({
      description:
        'The name of the payee at the operator, and when the operator was asked. Null: it was not asked, or did not answer.',
    }),
  warnings: z.array(payoutWarningSchema).meta({ example: [{ code: 'first_payout_to_number' }] }),
});

const consolePayoutSchema = objectSchema('ConsolePayout', {
  ...payoutSchema.shape,
  idempotency_key: shownIdempotencyKey,
  operator_receipt: shownReceipt,
  created_by: knownPerson.meta({ description: 'The person who requested it, or the creator of the key that did.' }),
  api_key: knownKey.nullable().meta({ description: 'The key that requested it, if any.' }),
  approvals: namedApprovals,
  ...decisionFields,
  judgement: judgementSchema.nullable().meta({
    description: 'The current warnings for an approver. Null: the payout is not `queued`.',
  }),
});
export const consolePayoutListSchema = pageSchema(consolePayoutSchema, 'ConsolePayoutList');

export const payoutWithTimelineSchema = objectSchema('PayoutWithTimeline', {
  ...consolePayoutSchema.shape,
  cancellable: shownCancellable,
  ...historyFields,
});

export const payoutQueries = consoleQueries('pay', payoutState, {
  approval_state: approvalState.optional(),
  waiting_for: z.enum(['me']).optional().meta({
    description:
      'Only payouts that the caller may release: queued, not expired, neither made nor approved by the caller.',
  }),
});

type PayoutQuery = z.output<typeof payoutQueries.count> & { readonly state?: PayoutState | undefined };

/** The filters of the query. For a person who may not release, no payout waits. */
export function payoutFilter(query: PayoutQuery, { userId, roles }: Person, at: Date): ListFilter {
  const { state, states, approval_state: approval, waiting_for: waitingFor, ...others } = query;
  const isWaiting = waitingFor !== undefined;
  const wanted = statesInAll([
    state && [state],
    states,
    approval && statesOfApproval(approval),
    isWaiting ? (holdsOneOf(roles, ['approver']) ? ['queued'] : []) : undefined,
  ]);
  return {
    ...consoleFilter(others),
    ...(wanted && { states: wanted }),
    ...(isWaiting && { waitingFor: { userId, at } }),
  };
}

export function consolePayoutObject(named: ConsolePayout) {
  const { payout, createdBy, apiKey, approvals, decidedBy, judgement } = named;
  return {
    ...payoutObject(payout),
    idempotency_key: payout.idempotencyKey,
    operator_receipt: payout.operatorReceipt,
    created_by: createdBy,
    api_key: apiKey,
    approvals: approvals.map(namedApprovalObject),
    ...decisionObject(payout, approvals, decidedBy),
    judgement: judgement && judgementObject(judgement),
  };
}

export function judgementObject({ earlier, payee, warnings }: PayoutJudgement): z.input<typeof judgementSchema> {
  return {
    earlier_payouts: earlierObject(earlier),
    payee: payee && { name: payee.name, asked_at: payee.askedAt.toISOString() },
    warnings: warnings.map(warningObject),
  };
}

function earlierObject({ count, isAtLeast, last }: EarlierPayouts): z.input<typeof earlierPayoutsSchema> {
  return {
    count,
    at_least: isAtLeast,
    last: last && {
      id: last.id,
      created_at: last.createdAt.toISOString(),
      amount: Number(last.amountMinor),
      state: last.state,
    },
  };
}

function warningObject(warning: PayoutWarning): z.input<typeof payoutWarningSchema> {
  const { code } = warning;
  switch (code) {
    case 'first_payout_to_number':
      return { code };
    case 'same_number_and_amount_within_24h':
      return { code, payout_id: warning.payoutId, created_at: warning.createdAt.toISOString(), state: warning.state };
    case 'number_changed_since_last':
      return { code, payout_id: warning.payoutId, phone: warning.phone };
    case 'above_usual':
      return { code, usual_amount: Number(warning.usualMinor), times: warning.times };
    case 'payee_name_differs':
      return { code, typed: warning.typed, name: warning.name };
  }
}
