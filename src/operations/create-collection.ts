// Accepts a request for a collection: once per idempotency key, recorded before anybody is asked to pay.
import { randomUUID } from 'node:crypto';
import { recordAct } from '../db/audit.ts';
import { insertCollection } from '../db/collection.ts';
import type { Database, Tx } from '../db/database.ts';
import {
  findIdempotencyKey,
  putIdempotencyKey,
  tryLockIdempotencyKey,
  type StoredAnswer,
} from '../db/idempotency-key.ts';
import { collectionObject, type Collection } from '../domain/collection.ts';
import { planCollection, type CollectionRequest } from '../domain/collection-request.ts';
import { DomainError } from '../domain/errors.ts';
import { idTimeMs, newId, type MerchantId } from '../domain/ids.ts';
import { requestFingerprint } from '../domain/idempotency.ts';
import type { ActedBy } from '../domain/member.ts';
import type { Currency } from '../domain/money.ts';

export type CreateCollection = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly idempotencyKey: string;
  readonly request: CollectionRequest;
  /** False while too much accepted work waits to be started: then only repeats are answered. */
  readonly isAcceptingWork: boolean;
  readonly promptDeadlineMs: number;
  readonly idempotencyKeptForMs: number;
  /** The person who asks in a session; absent for an API key. */
  readonly by?: ActedBy;
  readonly at: Date;
};

export type CreatedCollection =
  | { readonly kind: 'created'; readonly answer: StoredAnswer; readonly collection: Collection }
  | { readonly kind: 'replayed'; readonly answer: StoredAnswer };

/**
 * One transaction claims the key, inserts the collection and keeps the answer: all of it or nothing. Repeating the call
 * gives the kept answer. Throws `idempotency_key_in_flight` while another call with the key is under way,
 * `idempotency_key_reused` for other parameters, `service_unavailable` when no work is accepted, and what
 * `planCollection` throws; nothing is kept then.
 */
export async function createCollection(db: Database, input: CreateCollection): Promise<CreatedCollection> {
  const fingerprint = requestFingerprint('POST', '/v1/api/collections', input.request);
  return db.withTransaction(async (tx) => {
    const kept = await claimKey(tx, input, fingerprint);
    if (kept) return { kind: 'replayed', answer: kept };
    const collection = newCollection(input);
    const answer = { status: 202, body: JSON.stringify(collectionObject(collection)) };
    const { merchantId, idempotencyKey: key, at } = input;
    const isClaimed = await putIdempotencyKey(tx, {
      merchantId,
      key,
      fingerprint,
      answer,
      at,
      keptSince: keptSince(input),
    });
    if (!isClaimed) throw inFlight();
    await insertCollection(tx, collection);
    if (input.by) await recordAct(tx, input.by, { action: 'collection.created', subjectId: collection.id, at });
    return { kind: 'created', answer, collection };
  });
}

async function claimKey(tx: Tx, input: CreateCollection, fingerprint: Buffer): Promise<StoredAnswer | null> {
  if (!(await tryLockIdempotencyKey(tx, input.merchantId, input.idempotencyKey))) throw inFlight();
  const kept = await findIdempotencyKey(tx, input.merchantId, input.idempotencyKey, keptSince(input));
  if (kept === null) {
    if (input.isAcceptingWork) return null;
    throw new DomainError('service_unavailable', 'Too many payments wait to be started. Try again with the same key.', {
      retryAfterSeconds: 5,
    });
  }
  if (kept.fingerprint.equals(fingerprint)) return kept.answer;
  throw new DomainError(
    'idempotency_key_reused',
    'This Idempotency-Key was reused with different parameters. Use a new key for a new payment.',
  );
}

function newCollection(input: CreateCollection): Collection {
  const { request } = input;
  const { operator } = planCollection(request, input.merchantCurrency);
  const id = newId('col', input.at.getTime());
  // Lists filter by time through the id: a collection was created when its id says.
  const at = new Date(idTimeMs(id));
  return {
    id,
    merchantId: input.merchantId,
    idempotencyKey: input.idempotencyKey,
    state: 'initiated',
    previousState: null,
    version: 0,
    amountMinor: request.amountMinor,
    currency: input.merchantCurrency,
    reference: request.reference,
    phone: request.phone,
    operator,
    operatorReference: randomUUID(),
    description: request.description,
    metadata: request.metadata,
    failureCode: null,
    amountReversedMinor: 0n,
    createdAt: at,
    updatedAt: at,
    promptDeadlineAt: new Date(at.getTime() + input.promptDeadlineMs),
    promptExpiresAt: null,
  };
}

function keptSince(input: CreateCollection): Date {
  return new Date(input.at.getTime() - input.idempotencyKeptForMs);
}

function inFlight(): DomainError {
  return new DomainError(
    'idempotency_key_in_flight',
    'A call with this Idempotency-Key is still under way. Wait a second and ask again with the same key.',
    { retryAfterSeconds: 1 },
  );
}
