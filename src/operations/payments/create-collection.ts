// Accepts a request for a collection: once per idempotency key, and recorded before the payer is prompted.
import { requireAttempt } from '../../db/accounts/attempt-counter.ts';
import { recordAct } from '../../db/accounts/audit.ts';
import type { Tx } from '../../db/platform/database.ts';
import { findCheckoutLocked } from '../../db/payments/checkout.ts';
import { insertAttempt, listEarlierAttempts } from '../../db/payments/checkout-attempt.ts';
import { createBatcher } from '../../db/platform/batcher.ts';
import { acceptCollections, type Acceptance } from '../../db/payments/collection-acceptance.ts';
import { insertCollection } from '../../db/payments/collection.ts';
import { countOfKey, respondOnce } from '../../db/payments/idempotency-key.ts';
import { accepted, type StoredOutcome } from '../../domain/payments/stored-outcome.ts';
import { AttemptRefused, refusalOfAttempt, type Checkout } from '../../domain/payments/checkout.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import {
  newRequested,
  type ByVerifiedKey,
  type CreatePayment,
  type NewRequested,
} from '../../domain/payments/new-payment.ts';
import { notFound, nullOnDomainError, recordsUnavailable } from '../../domain/errors.ts';
import { newId, type CheckoutId, type CollectionId } from '../../domain/ids.ts';
import type { AttemptLimit } from '../../security/attempt-limit.ts';
import { keyedRequest, type KeyedRequest } from '../../security/request-fingerprint.ts';
import type { PaymentContext } from './payment-context.ts';

export type CreateCollection = CreatePayment & {
  /** The attempt of a payer at a checkout; absent for a merchant's request. */
  readonly attempt?: CollectionAttempt;
};

export type CollectionAttempt = {
  readonly checkoutId: CheckoutId;
  /** The hash of the code in the address of the attempt's own page. */
  readonly codeSha256: Buffer;
  /** The limits that count this attempt. */
  readonly limits: readonly AttemptLimit[];
};

export type CreatedCollection = StoredOutcome<readonly [Collection]>;

/**
 * One transaction claims the key, inserts the collection and stores the response: all or nothing. Repeating the call returns the stored
 * response. Throws `idempotency_key_in_flight` while another call with the key is in progress, `idempotency_key_reused` for other
 * parameters, `service_unavailable` if no new work is accepted, and the errors of `planPayment`; for an attempt at a checkout also
 * `AttemptRefused` and `rate_limited`. After an error nothing is stored.
 */
export async function createCollection(context: PaymentContext, input: CreateCollection): Promise<CreatedCollection> {
  return respondOnce(context.db, keyed(input), async (tx) => {
    if (input.refusal) throw input.refusal;
    const { attempt } = input;
    const checkout = attempt ? await openCheckout(tx, input, attempt, context) : null;
    const generation = (await countOfKey(tx, 'collection', input)) + 1;
    const collection = newCollection({ ...input, generation }, context);
    await insertCollection(tx, collection);
    if (attempt && checkout) await insertAttempt(tx, checkout, attempt.codeSha256, collection);
    if (input.by)
      await recordAct(tx, input.by, { action: 'collection.created', subjectId: collection.id, at: input.at });
    return accepted(collection, 202);
  });
}

type AcceptCollection = Omit<CreatePayment, 'by'> & ByVerifiedKey;

/** How many collections one statement accepts, and how many such statements run at once: later arrivals share the next one. */
const MOST_TOGETHER = 64;
const STATEMENTS_AT_ONCE = 2;
/** Equal to a statement's wait for a connection: a collection accepted later may be too late to be carried out. */
const LONGEST_WAIT_MS = 10_000;

/**
 * As `createCollection`, for a cached API key, which counts only if its row was not written since the key was verified. Requests that
 * arrive at about the same time are accepted in one statement. Null, with nothing recorded, if the collection is not created: verify the
 * key again, then call `createCollection`. Throws `service_unavailable` if the database does not accept the waiting requests.
 */
export function createAcceptance(
  context: PaymentContext,
): (input: AcceptCollection) => Promise<CreatedCollection | null> {
  const batcher = createBatcher<Acceptance, ReadonlySet<CollectionId>>({
    maxItems: MOST_TOGETHER,
    atOnce: STATEMENTS_AT_ONCE,
    longestWait: { ms: LONGEST_WAIT_MS, error: recordsUnavailable },
    handle: (acceptances) => acceptCollections(context.db, acceptances),
  });
  return async (input) => {
    if (input.refusal) return null;
    // If an earlier payment has this key, it has this reference too, and the database refuses the statement.
    // A request that is refused now may have been accepted before: then it receives its stored response.
    const collection = await nullOnDomainError(() => newCollection({ ...input, generation: 1 }, context));
    if (collection === null) return null;
    const outcome = accepted(collection, 202);
    const { keyVersion } = input;
    const request = keyed(input);
    const recorded = await batcher.add({ collection, request, response: outcome.response, keyVersion });
    return recorded.has(collection.id) ? outcome : null;
  };
}

function keyed(input: CreateCollection): KeyedRequest {
  return keyedRequest('/v1/api/collections', input, input.request);
}

const TOO_MANY = 'Too many attempts to pay. Wait, then try again.';

/** Locks and returns the checkout if it takes an attempt of this phone now; counts the attempt. */
async function openCheckout(
  tx: Tx,
  { merchantId, request, at }: CreateCollection,
  { checkoutId, limits }: CollectionAttempt,
  { clocks }: PaymentContext,
): Promise<Checkout> {
  const checkout = await findCheckoutLocked(tx, merchantId, checkoutId);
  if (!checkout) throw notFound('checkout');
  const earlier = await listEarlierAttempts(tx, checkout, request.phone);
  const refusal = refusalOfAttempt(checkout, earlier, at, clocks.secondAttemptWaitMs);
  if (refusal) throw new AttemptRefused(refusal);
  // The limits are locked in the order of their subjects, so that no two attempts deadlock.
  const inOrder = [...limits].sort((one, other) => (one.subject < other.subject ? -1 : 1));
  for (const limit of inOrder) await requireAttempt(tx, limit, TOO_MANY, at);
  return checkout;
}

function newCollection(input: CreateCollection & NewRequested, context: PaymentContext): Collection {
  const { clocks } = context;
  const requested = newRequested('collection', newId('col', input.at.getTime()), input, context);
  return {
    ...requested,
    state: 'initiated',
    createdBy: input.by?.person.userId ?? null,
    promptDeadlineAt: new Date(requested.createdAt.getTime() + clocks.promptDeadlineMs),
    promptExpiresAt: null,
  };
}
