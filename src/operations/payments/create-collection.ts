// Accepts a request for a collection: once per idempotency key, and recorded before the payer is prompted.
import { randomUUID } from 'node:crypto';
import { recordAct } from '../../db/accounts/audit.ts';
import { insertCollection } from '../../db/payments/collection.ts';
import {
  claimIdempotencyKey,
  storeResponse,
  type KeyedRequest,
  type StoredResponse,
} from '../../db/payments/idempotency-key.ts';
import { collectionObject, type Collection } from '../../domain/payments/collection.ts';
import { planPayment, type PaymentRequest } from '../../domain/payments/payment-request.ts';
import { backlogFull } from '../../domain/errors.ts';
import { idTimeMs, newId, type ApiKeyId, type MerchantId } from '../../domain/ids.ts';
import { requestFingerprint } from '../../security/request-fingerprint.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import type { Currency } from '../../domain/money.ts';
import type { PaymentContext } from './payment-context.ts';

export type CreateCollection = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly idempotencyKey: string;
  readonly request: PaymentRequest;
  /** False while the backlog is too large or too old: then only repeated requests get a response. */
  readonly isAcceptingWork: boolean;
  /** The person whose session makes the request; absent for an API key. */
  readonly by?: ActedBy;
  /** The key that makes the request; absent for a session. */
  readonly apiKeyId?: ApiKeyId;
  readonly at: Date;
};

export type CreatedCollection =
  | { readonly kind: 'created'; readonly response: StoredResponse; readonly collection: Collection }
  | { readonly kind: 'replayed'; readonly response: StoredResponse };

/**
 * One transaction claims the key, inserts the collection and stores the response: all or nothing. Repeating the call
 * returns the stored response. Throws `idempotency_key_in_flight` while another call with the key is under way,
 * `idempotency_key_reused` for other parameters, `service_unavailable` when no new work is accepted, and what
 * `planPayment` throws; nothing is stored then.
 */
export async function createCollection(context: PaymentContext, input: CreateCollection): Promise<CreatedCollection> {
  const request: KeyedRequest = {
    merchantId: input.merchantId,
    key: input.idempotencyKey,
    fingerprint: requestFingerprint('POST', '/v1/api/collections', input.request),
    at: input.at,
  };
  return context.db.withTransaction(async (tx) => {
    const stored = await claimIdempotencyKey(tx, request);
    if (stored) return { kind: 'replayed', response: stored };
    if (!input.isAcceptingWork) throw backlogFull();
    const collection = newCollection(input, context);
    const response = { status: 202, body: JSON.stringify(collectionObject(collection)) };
    await storeResponse(tx, request, response);
    await insertCollection(tx, collection);
    if (input.by)
      await recordAct(tx, input.by, { action: 'collection.created', subjectId: collection.id, at: input.at });
    return { kind: 'created', response, collection };
  });
}

function newCollection(input: CreateCollection, { clocks, coverage }: PaymentContext): Collection {
  const { request } = input;
  const { operator } = planPayment(request, input.merchantCurrency, coverage);
  const id = newId('col', input.at.getTime());
  // Lists filter by the time in the id, so the collection is created at that time.
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
    createdBy: input.by?.person.userId ?? null,
    apiKeyId: input.apiKeyId ?? null,
    createdAt: at,
    updatedAt: at,
    promptDeadlineAt: new Date(at.getTime() + clocks.promptDeadlineMs),
    sendBegunAt: null,
    promptExpiresAt: null,
  };
}
