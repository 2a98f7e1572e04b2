// What MTN's answers mean: the total mapping from an HTTP answer to an outcome of the port.
import { z } from 'zod';
import type { HttpAnswer } from '../http-client.ts';
import { normaliseReason, readErrorCode, refusesSend, RETURNED_CODE, type MtnUse } from './codes.ts';
import type { SendOutcome, StatusOutcome } from '../port.ts';

type Answered = Extract<HttpAnswer, { kind: 'answer' }>;

const text = z.union([z.string(), z.int().transform(String)]);

const statusBody = z.object({
  status: z.string(),
  externalId: z.string(),
  amount: z.unknown().optional(),
  currency: z.unknown().optional(),
  financialTransactionId: z.unknown().optional(),
  reason: z.unknown().optional(),
});

type StatusBody = z.infer<typeof statusBody>;

const numeral = z.union([z.string(), z.number().transform(String)]);
const currency = z.string().regex(/^[A-Z]{3}$/);

const paidBody = z.object({ amount: numeral.pipe(z.string().regex(/^\d{1,16}(\.\d{1,6})?$/)), currency });

/**
 * The outcome of a send. Only MTN's own "taken" (202, or 409 for a reference it has already taken) is `accepted`, only
 * its own "no" is `refused`; everything else may or may not have been taken.
 */
export function readSendAnswer(answer: HttpAnswer, use: MtnUse): SendOutcome {
  if (answer.kind === 'no_answer') return { kind: 'unknown', reason: answer.reason };
  const code = answer.body.kind === 'json' ? readErrorCode(answer.body.value) : null;
  switch (answer.status) {
    case 202:
      return { kind: 'accepted' };
    case 409:
      return code === 'RESOURCE_ALREADY_EXIST' ? { kind: 'accepted' } : unknown(answer, code);
    case 400:
    case 403:
      // A web page here is a proxy's or a firewall's, which says nothing about an earlier try of the same reference.
      if (answer.body.kind === 'other') return unknown(answer, code);
      if (code !== null && refusesSend(code, use) === false) return unknown(answer, code);
      return refused(answer, code, use);
    case 404:
      // The path exists, so it is the collection to be refunded that does not.
      return use === 'refund' && code === 'RESOURCE_NOT_FOUND' ? refused(answer, code, use) : unknown(answer, code);
    case 500:
      // MTN reports its client's mistakes as 500 too. Sending those again would never help.
      return code !== null && refusesSend(code, use) === true ? refused(answer, code, use) : unknown(answer, code);
    default:
      return unknown(answer, code);
  }
}

/** What MTN says of the payment with this reference; an answer about any other payment is `unknown`. */
export function readStatusAnswer(answer: HttpAnswer, operatorReference: string, use: MtnUse): StatusOutcome {
  if (answer.kind === 'no_answer') return { kind: 'unknown', reason: answer.reason };
  const { body } = answer;
  if (answer.status === 404) {
    const code = body.kind === 'json' ? readErrorCode(body.value) : null;
    // Only the API's own words count: any proxy answers 404 to a path that it does not know.
    return code === 'RESOURCE_NOT_FOUND' ? { kind: 'not_found' } : unknown(answer, code);
  }
  if (answer.status !== 200) return unknown(answer, body.kind === 'json' ? readErrorCode(body.value) : null);
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
      return { kind: 'pending' };
    case 'FAILED':
      if (readErrorCode(status.reason) === RETURNED_CODE) return readReturned(status);
      return { kind: 'failed', ...normaliseReason(status.reason, use) };
    case 'SUCCESSFUL': {
      const paid = paidBody.safeParse(status);
      if (!paid.success) return { kind: 'unknown', reason: 'paid, but the amount is not understood' };
      // Paid without a receipt number is still paid, and asking again would not bring one. Our own reference stands in:
      // it is unique, and MTN's support can find the payment by it.
      return { kind: 'succeeded', receipt: readReceipt(status) ?? operatorReference, paid: paid.data };
    }
    default:
      return { kind: 'unknown', reason: 'status word not known' };
  }
}

// Without its receipt nothing says that it was ever paid, and with a wrong guess money would be booked that is not there.
function readReturned(status: StatusBody): StatusOutcome {
  const receipt = readReceipt(status);
  if (receipt === null) return { kind: 'unknown', reason: 'returned, but no receipt says that it was paid' };
  const paid = paidBody.safeParse(status);
  if (!paid.success) return { kind: 'unknown', reason: 'returned, but the amount is not understood' };
  return { kind: 'returned', receipt, paid: paid.data };
}

function readReceipt({ financialTransactionId }: StatusBody): string | null {
  const receipt = text.safeParse(financialTransactionId);
  return receipt.success && /^[\w.-]{1,64}$/.test(receipt.data) ? receipt.data : null;
}

function refused(answer: Answered, code: string | null, use: MtnUse): SendOutcome {
  if (code === null) return { kind: 'refused', code: 'operator_rejected', operatorCode: `HTTP_${answer.status}` };
  return { kind: 'refused', ...normaliseReason(code, use) };
}

function unknown(answer: Answered, code: string | null): { kind: 'unknown'; reason: string } {
  return { kind: 'unknown', reason: code === null ? `http ${answer.status}` : `http ${answer.status} ${code}` };
}
