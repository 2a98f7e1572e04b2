// The policy and proposals to change it on the wire.
import { z } from 'zod';
import type { PolicyChange } from '../../../domain/accounts/proposal.ts';
import { namedPerson } from './person.ts';
import { idOf, objectSchema, time, unlessMissing } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

const MAX_EXPIRY_SECONDS = 30 * 24 * 60 * 60;
const MAX_WAIT_SECONDS = 30 * 24 * 60 * 60;

function wholeNumber(name: string, min: number, max: number) {
  const error = `${name} must be null or a whole number from ${min} to ${max}.`;
  return z
    .int({ error: unlessMissing(error) })
    .min(min, { error })
    .max(max, { error });
}

const fields = {
  second_factor_required: z.boolean({ error: unlessMissing('second_factor_required must be true or false.') }),
  two_approvers_above: wholeNumber('two_approvers_above', 0, Number.MAX_SAFE_INTEGER).nullable().meta({
    description: 'Above this amount two approvers must release. Null: one approver is enough for any amount.',
  }),
  approver_daily_limit: wholeNumber('approver_daily_limit', 1, Number.MAX_SAFE_INTEGER)
    .nullable()
    .meta({ description: 'The most that one person releases in 24 hours. Null: no limit.' }),
  payout_expires_after_seconds: wholeNumber('payout_expires_after_seconds', 1, MAX_EXPIRY_SECONDS)
    .nullable()
    .meta({ description: 'How long a payout waits for its release. Null: 7 days.' }),
  approver_wait_seconds: wholeNumber('approver_wait_seconds', 1, MAX_WAIT_SECONDS)
    .nullable()
    .meta({
      description:
        'How long a new owner or approver, or a person with a recovered account, cannot move money. Null: as long as the ' +
        'service requires, which is 24 hours in the live environment. A shorter time has no effect.',
    }),
  key_held_limit: wholeNumber('key_held_limit', 0, Number.MAX_SAFE_INTEGER)
    .nullable()
    .meta({
      description:
        'The most that the unreleased payouts of one API key hold together. A payout that would exceed the limit is ' +
        'refused with `state_conflict`. Null: no limit. 0: keys create no payouts.',
    }),
};

const shown = z.strictObject(fields);
export const policyValuesSchema = shown.meta({ id: 'PolicyValues' });
const changed = shown.partial();

export const changePolicySchema = z
  .strictObject(changed.shape)
  .refine((changes) => Object.keys(changes).length > 0, { error: 'Name at least one field of the policy to change.' })
  .meta({ id: 'ChangePolicy', minProperties: 1 });

export const policyChangeSchema = objectSchema('PolicyChange', {
  id: idOf('pch'),
  state: z.enum(['pending', 'approved', 'rejected', 'withdrawn', 'replaced']),
  changes: changed,
  proposed_by: namedPerson,
  created_at: time,
  expires_at: time,
  decided_by: namedPerson.nullable(),
  decided_at: time.nullable(),
});

export const proposedPolicyChangeSchema = objectSchema('ProposedPolicyChange', {
  ...policyChangeSchema.shape,
  needs_second_person: z.boolean().meta({
    description: 'True: no member can approve it. Invite a second owner or admin first.',
  }),
});

export const policySchema = shown.extend({ pending_changes: z.array(policyChangeSchema) }).meta({ id: 'Policy' });

export function policyChangeObject(change: PolicyChange) {
  return wireObject(policyChangeSchema, change);
}
