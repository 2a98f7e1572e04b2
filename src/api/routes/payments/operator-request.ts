// What callbacks and messages of operators have in common: both are stored as they came, and lead to nothing before that.
import type { PaymentWork } from '../../../domain/work.ts';
import { clientAddress } from '../../client-address.ts';
import type { ApiMiddleware } from '../../context.ts';
import { bodyTooLarge } from '../../errors.ts';
import { MAX_BODY_BYTES, readCallback } from '../../middleware/body.ts';

type ApiContext = Parameters<ApiMiddleware>[0];

/** The token in the path; empty if the path has none. */
export function tokenIn(ctx: ApiContext): string {
  return (ctx as { readonly params?: { readonly token?: string } }).params?.token ?? '';
}

/** The request as it is stored, and its fields. Throws `body_too_large`. */
export async function readOperatorRequest(ctx: ApiContext) {
  const { text: body, fields } = await readCallback(ctx);
  // Bytes that are not text were replaced by characters that take more bytes.
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw bodyTooLarge();
  const contentType = ctx.get('Content-Type').slice(0, 200);
  return { fields, stored: { body, contentType, sourceAddress: clientAddress(ctx), receivedAt: new Date() } };
}

type Recorded = { readonly payment: PaymentWork | null; readonly isKept: boolean };

/**
 * Signals the workflow of a stored request, or reports one whose payment is not on record. A request that is not stored has no effect: a
 * flood of requests causes no flood of queries and hides no trace.
 */
export function followUp(
  ctx: ApiContext,
  { payment, isKept }: Recorded,
  { offerCallback }: { readonly offerCallback: (payment: PaymentWork) => void },
  reportUnmatched: () => void,
): void {
  if (!isKept) return;
  if (payment === null) {
    reportUnmatched();
    return;
  }
  ctx.state.paymentId = payment.id;
  offerCallback(payment);
}
