// Accepts a request of a key or a person for a collection or payout.
import type { StoredOutcome } from '../../../domain/payments/stored-outcome.ts';
import type { ActedBy } from '../../../domain/accounts/member.ts';
import type { UserId } from '../../../domain/ids.ts';
import type { ByVerifiedKey, CreatePayment } from '../../../domain/payments/new-payment.ts';
import type { CachedKey, Caller } from '../../context.ts';
import type { PaymentDeps, RouteResponse } from '../../route.ts';
import { toPaymentRequest } from '../../schemas/payments/payout.ts';

type Request = {
  readonly caller: Caller;
  readonly by: ActedBy | undefined;
  readonly cachedKey: CachedKey | undefined;
  readonly requestId: string;
  readonly idempotencyKey: string;
  readonly body: Parameters<typeof toPaymentRequest>[0];
};

/** `maker`: the maker of the key when it was verified, if any. */
type CachedKeyInput = CreatePayment & ByVerifiedKey & { readonly maker: UserId | null };

type Operations = {
  /** In one statement if all that decides was verified earlier. Null: nothing is recorded; verify the key. */
  readonly atOnce: (input: CachedKeyInput) => Promise<StoredOutcome | null>;
  /** Accepts in a transaction, for a caller who was checked for this request. */
  readonly inTransaction: (input: CreatePayment, caller: Caller) => Promise<StoredOutcome>;
};

export async function acceptPayment(
  deps: PaymentDeps,
  { caller, by, cachedKey, requestId, idempotencyKey, body }: Request,
  { atOnce, inTransaction }: Operations,
): Promise<RouteResponse> {
  const { merchantId, merchantCurrency, actor } = caller;
  const apiKeyId = actor.kind === 'key' ? actor.keyId : null;
  const input: CreatePayment = {
    merchantId,
    merchantCurrency,
    ...(by && { by }),
    apiKeyId,
    idempotencyKey,
    request: toPaymentRequest(body),
    requestId,
    refusal: deps.refusalOfWork(merchantId),
    at: new Date(),
  };
  if (cachedKey === undefined || apiKeyId === null) return { stored: await inTransaction(input, caller) };
  const { version: keyVersion, maker } = cachedKey;
  const accepted = await atOnce({ ...input, apiKeyId, keyVersion, maker });
  return { stored: accepted ?? (await inTransaction(input, await cachedKey.verify())) };
}
