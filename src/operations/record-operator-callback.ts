// Keeps what an operator called back with, and tells which collection it speaks of.
import { findCollectionByOperatorReference } from '../db/collection.ts';
import type { Database } from '../db/database.ts';
import { insertOperatorCallback } from '../db/operator-callback.ts';
import type { Collection } from '../domain/collection.ts';
import type { OperatorId } from '../domain/operator-catalogue.ts';

/** An honest operator calls once, or a few times; the rest is noise and is not kept. */
const MOST_PER_PAYMENT = 20;

export type RecordOperatorCallback = {
  readonly operator: OperatorId;
  readonly operatorReference: string;
  readonly body: string;
  readonly contentType: string;
  readonly sourceAddress: string;
  readonly receivedAt: Date;
};

/**
 * The collection and whether this callback is kept, or null for a reference we never gave out (nothing is kept: anyone
 * can call, and strangers fill no disk). Changes no payment: a callback is a hint.
 */
export async function recordOperatorCallback(
  db: Database,
  input: RecordOperatorCallback,
): Promise<{ collection: Collection; isKept: boolean } | null> {
  const collection = await findCollectionByOperatorReference(db, input.operator, input.operatorReference);
  if (!collection) return null;
  const { isKept } = await insertOperatorCallback(db, { ...input, collectionId: collection.id }, MOST_PER_PAYMENT);
  return { collection, isKept };
}
