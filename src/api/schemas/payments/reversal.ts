// Reversals on the wire.
import { z } from 'zod';
import { REVERSAL_STATES, reversalObject } from '../../../domain/payments/reversal.ts';
import type { ConsoleReversal } from '../../../operations/payments/read-console-payments.ts';
import { knownPerson } from '../accounts/person.ts';
import { isId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { idOf, objectSchema, time } from '../primitives.ts';
import { decisionFields, decisionObject, namedApprovalObject } from './decision.ts';
import {
  approvalFields,
  approvalState,
  currency,
  failure,
  operatorReference,
  shownAmount,
  shownPhone,
  shownReference,
  userId,
  shownStatusQueries,
  workflowUrl,
  shownCancellable,
} from './payment.ts';

export const reversalState = z.enum(REVERSAL_STATES).meta({ id: 'ReversalState' });

export const reversalSchema = objectSchema('Reversal', {
  id: idOf('rev'),
  collection_id: idOf('col'),
  state: reversalState,
  approval_state: approvalState,
  amount: shownAmount.meta({ example: 5000, description: 'The whole amount of the collection.' }),
  currency,
  phone: shownPhone,
  reference: shownReference,
  failure,
  operator_reference: operatorReference.meta({ description: 'Our reference for the refund at the operator.' }),
  requested_by: userId,
  ...approvalFields,
});

export const consoleReversalSchema = objectSchema('ConsoleReversal', {
  ...reversalSchema.shape,
  requested_by_person: knownPerson,
  approvals: z
    .array(z.strictObject({ user_id: userId, person: knownPerson, approved_at: time }))
    .meta({ example: [], description: 'Oldest first.' }),
  ...decisionFields,
});

export const reversalWithWorkflowSchema = objectSchema('ReversalWithWorkflow', {
  ...consoleReversalSchema.shape,
  cancellable: shownCancellable,
  status_queries: shownStatusQueries,
  workflow_url: workflowUrl,
});

export const reversalListSchema = pageSchema(consoleReversalSchema, 'ReversalList');

export function consoleReversalObject({ reversal, requestedBy, approvals, decidedBy }: ConsoleReversal) {
  return {
    ...reversalObject(reversal),
    requested_by_person: requestedBy,
    approvals: approvals.map((approval) => ({ user_id: approval.person.id, ...namedApprovalObject(approval) })),
    ...decisionObject(reversal, approvals, decidedBy),
  };
}

export const listReversalsSchema = z.strictObject({
  ...pageQuery((id) => isId('rev', id)).shape,
  state: reversalState.optional(),
  approval_state: approvalState.optional(),
});
