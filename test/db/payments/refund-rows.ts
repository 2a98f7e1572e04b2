// Refunds for tests: what the people of a shop do about them through the service's own operations.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/db/platform/database.ts';
import type { Person } from '../../../src/domain/accounts/member.ts';
import type { ReversalId } from '../../../src/domain/ids.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import type { ReversalTransitionInput } from '../../../src/domain/payments/reversal-progress.ts';
import type { StoredOutcome } from '../../../src/domain/payments/stored-outcome.ts';
import { createReversal, type CreateReversal } from '../../../src/operations/payments/create-reversal.ts';
import { endQueuedPayment, type EndQueuedPayment } from '../../../src/operations/payments/end-queued-payment.ts';
import { recordTransition } from '../../../src/operations/payments/record-transition.ts';
import { releasePayment, type ReleasePayment } from '../../../src/operations/payments/release-payment.ts';
import { basisFor, contextOf } from '../rows.ts';
import { actedBy, releaseInput, type Shop, type WithClocks } from './payout-rows.ts';

export function requestReversal(
  db: Database,
  person: Person,
  collectionId: string,
  { clocks, ...fields }: Partial<CreateReversal> & WithClocks = {},
): ReturnType<typeof createReversal> {
  return createReversal(contextOf(db, clocks), {
    by: actedBy(person),
    collectionId,
    idempotencyKey: randomUUID(),
    at: new Date(),
    ...fields,
  });
}

/** A queued reversal that the maker of the shop requested. */
export async function queueReversal(
  db: Database,
  { maker }: Pick<Shop, 'maker'>,
  collection: Pick<Collection, 'id'>,
  fields: WithClocks = {},
): Promise<Reversal> {
  const created = await requestReversal(db, maker, collection.id, fields);
  assert.ok(created.kind === 'accepted', created.response.body);
  return created.payments[0];
}

export function releaseRefund(
  db: Database,
  person: Person,
  id: ReversalId,
  { clocks, ...fields }: Partial<Omit<ReleasePayment, 'kind'>> & WithClocks = {},
): Promise<StoredOutcome<readonly [Reversal]>> {
  return releasePayment(contextOf(db, clocks), { kind: 'reversal', id, ...releaseInput(person), ...fields });
}

export function decideOnRefund(
  db: Database,
  person: Person,
  id: ReversalId,
  decision: EndQueuedPayment['decision'],
): Promise<Reversal> {
  return endQueuedPayment(contextOf(db), { kind: 'reversal', id, by: actedBy(person), decision, at: new Date() });
}

/** A reversal that the approver of the shop released. */
export async function makeReversal(
  db: Database,
  shop: Pick<Shop, 'maker' | 'approver'>,
  collection: Pick<Collection, 'id'>,
  fields: WithClocks = {},
): Promise<Reversal & { readonly sendDeadlineAt: Date }> {
  const { id } = await queueReversal(db, shop, collection);
  const released = await releaseRefund(db, shop.approver, id, fields);
  assert.ok(released.kind === 'accepted', released.response.body);
  const [reversal] = released.payments;
  assert.ok(reversal.sendDeadlineAt);
  return { ...reversal, sendDeadlineAt: reversal.sendDeadlineAt };
}

export async function recordReversal(
  db: Database,
  { id, merchantId }: Pick<Reversal, 'id' | 'merchantId'>,
  transition: ReversalTransitionInput,
  at = new Date(),
): Promise<Reversal> {
  const input = { ref: { kind: 'reversal', id, merchantId }, transition, at, basis: basisFor(transition, at) } as const;
  return (await recordTransition(contextOf(db), input)).payment;
}

/** Records that the operator confirmed the refund; returns whether the refund was posted. */
export async function confirmRefund(db: Database, ref: Reversal): Promise<boolean> {
  const at = new Date();
  const transition = { kind: 'refunded' } as const;
  const input = { ref, transition, at, basis: basisFor(transition, at) };
  return (await recordTransition(contextOf(db), input)).isPosted;
}
