// The total mapping from MTN's HTTP responses to the outcomes of the port.
import { z } from 'zod';
import type { Trouble } from '../../domain/payments/breaker.ts';
import { causeOfStatus, type HttpResult } from '../http-client.ts';
import { normaliseReason, readErrorCode, refusedBy, RETURNED_CODE, type MtnUse } from './codes.ts';
import type { Reported, SendOutcome, StatusOutcome } from '../port.ts';

type HttpResponse = Extract<HttpResult, { kind: 'response' }>;

const text = z.union([z.string(), z.int().transform(String)]);

const statusBody = z.object({
  externalId: z.string(),
  status: z.unknown().optional(),
  amount: z.unknown().optional(),
  currency: z.unknown().optional(),
  financialTransactionId: z.unknown().optional(),
  reason: z.unknown().optional(),
  payer: z.unknown().optional(),
  payee: z.unknown().optional(),
});

type StatusBody = z.infer<typeof statusBody>;

const numeral = z.union([z.string(), z.number().transform(String)]);
const currency = z.string().regex(/^[A-Z]{3}$/);

/** A phone that is not masked. */
const party = z.object({ partyIdType: z.literal('MSISDN'), partyId: z.string().regex(/^\d{8,15}$/) });

const paidBody = z.object({ amount: numeral.pipe(z.string().regex(/^\d{1,16}(\.\d{1,6})?$/)), currency });

/**
 * The outcome of a send. `accepted` only for a 202, or a 409 for a reference that MTN accepted before; `refused` only
 * for a definite refusal of this payment by MTN itself. In all other cases MTN may or may not have accepted the request.
 */
export function readSendResponse(response: HttpResult, use: MtnUse): SendOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const code = response.body.kind === 'json' ? readErrorCode(response.body.value) : null;
  switch (response.status) {
    case 202:
      return { kind: 'accepted' };
    case 409:
      return code === 'RESOURCE_ALREADY_EXIST' ? { kind: 'accepted', isRepeated: true } : unknown(response, code);
    case 400:
    case 401:
    case 403:
    case 500:
      // MTN also reports errors of the request as 500.
      return readRefusal(response, code, use);
    case 404:
      // The path exists, so MTN does not know the collection to be refunded.
      return use === 'refund' && code === 'RESOURCE_NOT_FOUND'
        ? readRefusal(response, code, use)
        : unknown(response, code);
    default:
      return unknown(response, code);
  }
}

// A web page comes from a proxy or a firewall, and a code that is not listed proves nothing: MTN may have accepted an earlier send
// with the reference.
function readRefusal(response: HttpResponse, code: string | null, use: MtnUse): SendOutcome {
  const refused = code === null ? 'none' : refusedBy(code, use);
  if (refusesUs(response, refused)) return { ...unknown(response, code), cause: 'account' };
  const reason = refused === 'payment' ? normaliseReason(code, use) : null;
  return reason === null ? unknown(response, code) : { kind: 'refused', ...reason };
}

// These statuses refuse our token, our address or our rights: no payment would be accepted.
function refusesUs({ status }: HttpResponse, refused: ReturnType<typeof refusedBy>): boolean {
  return refused === 'account' || status === 401 || (status === 403 && refused === 'none');
}

/**
 * MTN's status of the payment with this reference; a response about another payment is `unknown`. A response that names this
 * payment proves that MTN has it, so the response is never `unknown`.
 */
export function readStatusResponse(response: HttpResult, operatorReference: string, use: MtnUse): StatusOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const { body } = response;
  if (response.status !== 200) {
    const code = body.kind === 'json' ? readErrorCode(body.value) : null;
    // Only the API's own code counts: any proxy responds 404 to an unknown path.
    if (response.status === 404 && code === 'RESOURCE_NOT_FOUND') return { kind: 'not_found' };
    const isOurs = refusesUs(response, code === null ? 'none' : refusedBy(code, use));
    return isOurs ? { ...unknown(response, code), cause: 'account' } : unknown(response, code);
  }
  const parsed = statusBody.safeParse(body.kind === 'json' ? body.value : null);
  if (!parsed.success) return { kind: 'unknown', reason: 'status not understood' };
  if (parsed.data.externalId.toLowerCase() !== operatorReference.toLowerCase()) {
    return { kind: 'unknown', reason: 'status of another payment' };
  }
  return readStatus(parsed.data, operatorReference, use);
}

function readStatus(status: StatusBody, operatorReference: string, use: MtnUse): StatusOutcome {
  switch (status.status) {
    case 'PENDING':
    case 'CREATED':
      return { kind: 'pending', ...readReported(status, use) };
    case 'FAILED': {
      if (readErrorCode(status.reason) === RETURNED_CODE) return readReturned(status, use);
      const reason = normaliseReason(status.reason, use);
      if (reason === null) return { kind: 'unreadable', reason: 'failed, for a reason that is not listed' };
      return { kind: 'failed', ...reason, ...readReported(status, use) };
    }
    case 'SUCCESSFUL': {
      const paid = paidBody.safeParse(status);
      if (!paid.success) return paidUnreadable(status, 'paid, but the amount is not understood');
      // A payment without a receipt is still paid, and another query would not return a receipt. Our own reference
      // replaces it: the reference is unique, and MTN's support can find the payment by it.
      const receipt = readReceipt(status) ?? operatorReference;
      return { kind: 'succeeded', receipt, paid: paid.data, ...readPhone(status, use) };
    }
    default:
      return { kind: 'unreadable', reason: 'status word not known' };
  }
}

// Without a receipt nothing proves that the payment was paid, and a wrong guess would post money that does not exist: a person
// must find out.
function readReturned(status: StatusBody, use: MtnUse): StatusOutcome {
  const receipt = readReceipt(status);
  if (receipt === null) return paidUnreadable(status, 'returned, but no receipt says that it was paid');
  const paid = paidBody.safeParse(status);
  if (!paid.success) return paidUnreadable(status, 'returned, but the amount is not understood');
  return { kind: 'returned', receipt, paid: paid.data, ...readPhone(status, use) };
}

function readReported(status: StatusBody, use: MtnUse): Reported {
  const paid = paidBody.safeParse(status);
  return { ...(paid.success && { money: paid.data }), ...readPhone(status, use) };
}

function readPhone({ payer, payee }: StatusBody, use: MtnUse): Pick<Reported, 'phone'> {
  const read = party.safeParse(use === 'collection' ? payer : payee);
  return read.success ? { phone: read.data.partyId } : {};
}

function paidUnreadable(status: StatusBody, reason: string): StatusOutcome {
  return { kind: 'paid_unreadable', receipt: readReceipt(status), reason };
}

function readReceipt({ financialTransactionId }: StatusBody): string | null {
  const receipt = text.safeParse(financialTransactionId);
  return receipt.success && /^[\w.-]{1,64}$/.test(receipt.data) ? receipt.data : null;
}

function unknown({ status }: HttpResponse, code: string | null): { kind: 'unknown'; reason: string; cause?: Trouble } {
  const reason = code === null ? `http ${status}` : `http ${status} ${code}`;
  return { kind: 'unknown', reason, ...causeOfStatus(status) };
}
