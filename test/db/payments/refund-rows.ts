// Refunds for tests: what the people of a shop do about them through the service's own operations.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../src/db/platform/database.ts';
import type { Person } from '../../../src/domain/accounts/member.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import { createReversal, type CreateReversal } from '../../../src/operations/payments/create-reversal.ts';
import { recordTransition } from '../../../src/operations/payments/record-transition.ts';
import { basisFor, contextOf, recorderOf } from '../rows.ts';
import { actedBy, deciderOf, releaserOf, type Shop, type WithClocks } from './payout-rows.ts';

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

export const releaseRefund = releaserOf('reversal');
export const decideOnRefund = deciderOf('reversal');
export const recordReversal = recorderOf('reversal');

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

/** Records that the operator confirmed the refund; returns whether the refund was posted. */
export async function confirmRefund(db: Database, ref: Reversal): Promise<boolean> {
  const at = new Date();
  const transition = { kind: 'refunded' } as const;
  const input = { ref, transition, at, basis: basisFor(transition, at) };
  return (await recordTransition(contextOf(db), input)).isPosted;
}
