// MTN's responses to requests that it refuses: status, code and message.
import type { Context } from 'koa';

export type MtnRefusal = { readonly status: number; readonly code: string; readonly message: string };

export const NOT_FOUND = refusal(404, 'RESOURCE_NOT_FOUND', 'Requested resource was not found.');
export const DUPLICATE = refusal(
  409,
  'RESOURCE_ALREADY_EXIST',
  'Duplicated reference id. Creation of resource failed.',
);
export const UNAVAILABLE = refusal(503, 'SERVICE_UNAVAILABLE', 'Service temporarily unavailable, try again later.');
export const NOT_REFUNDABLE = refusal(404, 'RESOURCE_NOT_FOUND', 'There is no payment that can be refunded.');
export const WRONG_ENVIRONMENT = refusal(
  500,
  'NOT_ALLOWED_TARGET_ENVIRONMENT',
  'Access to target environment is forbidden.',
);
const NOT_ALLOWED = refusal(403, 'NOT_ALLOWED', 'Authorization failed. Insufficient permissions.');
export const INVALID_CURRENCY = refusal(500, 'INVALID_CURRENCY', 'Currency not supported.');
export const INVALID_CALLBACK_HOST = refusal(
  500,
  'INVALID_CALLBACK_URL_HOST',
  'The callback host is not the registered one.',
);
/** Refusals of the client's account, in turn: its address, then its callback host. */
export const accountRefusal = (requestsReceived: number): MtnRefusal =>
  requestsReceived % 2 === 1 ? NOT_ALLOWED : INVALID_CALLBACK_HOST;
export const INTERNAL = refusal(500, 'INTERNAL_PROCESSING_ERROR', 'An internal error occurred while processing.');

export function refuse(ctx: Context, { status, code, message }: MtnRefusal): void {
  ctx.status = status;
  ctx.body = { code, message };
}

function refusal(status: number, code: string, message: string): MtnRefusal {
  return { status, code, message };
}
