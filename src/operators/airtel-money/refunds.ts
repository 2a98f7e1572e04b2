// What Airtel's responses say of a refund, which has no id of its own: the answer to its request, and the enquiry of its collection.
import { z } from 'zod';
import type { HttpResult } from '../http-client.ts';
import type { SendOutcome, StatusOutcome } from '../port.ts';
import { isSignatureRefused, readStatusResponse, unanswered, verdictOf, type HttpResponse } from './statuses.ts';

const refunded = z.object({
  data: z.object({ transaction: z.object({ status: z.literal('SUCCESS'), airtel_money_id: z.unknown().optional() }) }),
});

/**
 * The outcome of a send, which is made once: `refused` only if Airtel does not know the collection, and `isUnprocessed` only if Airtel
 * could not read the request. Any other answer may belong to a refund that is paid: Airtel's own example of one says `success: false`.
 */
export function readRefundResponse(response: HttpResult, receipt: string): SendOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const verdict = verdictOf(response, 'refund');
  const unknown = unanswered(response, verdict);
  if (response.status === 429) return { ...unknown, isUnprocessed: true };
  if (response.status === 401 || isSignatureRefused(response, 'refund')) {
    return { ...unknown, cause: 'account', isUnprocessed: true };
  }
  if (response.status === 403) return { ...unknown, cause: 'account' };
  if (verdict === null || ![200, 400, 404].includes(response.status)) return unknown;
  if (response.status === 200 && saysAccepted(response, receipt)) return { kind: 'accepted' };
  switch (verdict.meaning?.kind) {
    case 'taken':
      return verdict.isSuccess && response.status === 200 ? { kind: 'accepted' } : unknown;
    case 'not_found':
      return verdict.isSuccess
        ? unknown
        : { kind: 'refused', code: 'operator_rejected', operatorCode: verdict.code ?? '' };
    case 'account':
      return verdict.isSuccess ? unknown : { ...unknown, cause: 'account' };
    case 'exists':
    case 'open':
    case 'payment':
    case 'signature':
    case undefined:
      return unknown;
  }
}

/**
 * The refund is paid if Airtel has returned the collection with this reference. Until then nothing says whether Airtel has the refund. The
 * enquiry names no receipt of it.
 */
export function readRefundStatus(response: HttpResult, collectionReference: string): StatusOutcome {
  const collection = readStatusResponse(response, collectionReference, 'refund');
  if (collection.kind === 'returned') return { ...collection, kind: 'succeeded', receipt: null };
  return collection.kind === 'unknown' ? collection : { kind: 'unknown', reason: 'the collection is not returned' };
}

function saysAccepted({ body }: HttpResponse, receipt: string): boolean {
  const parsed = refunded.safeParse(body.kind === 'json' ? body.value : null);
  return parsed.success && [undefined, receipt].includes(parsed.data.data.transaction.airtel_money_id as string);
}
