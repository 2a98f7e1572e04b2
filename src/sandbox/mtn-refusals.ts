// What MTN answers when it does not do what it was asked: status, code and words.
import type { Context } from 'koa';

export type MtnRefusal = { readonly status: number; readonly code: string; readonly message: string };

export const NOT_FOUND: MtnRefusal = {
  status: 404,
  code: 'RESOURCE_NOT_FOUND',
  message: 'Requested resource was not found.',
};
export const DUPLICATE: MtnRefusal = {
  status: 409,
  code: 'RESOURCE_ALREADY_EXIST',
  message: 'Duplicated reference id. Creation of resource failed.',
};
export const UNAVAILABLE: MtnRefusal = {
  status: 503,
  code: 'SERVICE_UNAVAILABLE',
  message: 'Service temporarily unavailable, try again later.',
};
export const NOT_ALLOWED: MtnRefusal = {
  status: 500,
  code: 'NOT_ALLOWED',
  message: 'The payment cannot be refunded.',
};
export const WRONG_ENVIRONMENT: MtnRefusal = {
  status: 500,
  code: 'NOT_ALLOWED_TARGET_ENVIRONMENT',
  message: 'Access to target environment is forbidden.',
};
export const INVALID_CURRENCY: MtnRefusal = {
  status: 500,
  code: 'INVALID_CURRENCY',
  message: 'Currency not supported.',
};
export const INVALID_CALLBACK_HOST: MtnRefusal = {
  status: 500,
  code: 'INVALID_CALLBACK_URL_HOST',
  message: 'The callback host is not the registered one.',
};
export const INTERNAL: MtnRefusal = {
  status: 500,
  code: 'INTERNAL_PROCESSING_ERROR',
  message: 'An internal error occurred while processing.',
};

export function refuse(ctx: Context, { status, code, message }: MtnRefusal): void {
  ctx.status = status;
  ctx.body = { code, message };
}
