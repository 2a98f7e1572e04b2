// Errors on the wire: the one place where an error category becomes an HTTP status.
import { DomainError, recordsUnavailable } from '../domain/errors.ts';
import type { ErrorCategory } from '../domain/error-codes.ts';
import { unreadable } from './json.ts';

export const HTTP_STATUS: Readonly<Record<ErrorCategory, number>> = {
  unauthenticated: 401,
  forbidden: 403,
  invalid: 400,
  payment_required: 402,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_media: 415,
  conflict: 409,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
};

/** Any error that is not a DomainError is a bug or a broken dependency: its text never goes into a response. */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  const status = httpStatusOf(error);
  if (status === 413) return bodyTooLarge();
  if (status === 400) return unreadable();
  if (status === 415) return mediaTypeUnsupported();
  if (isDatabaseAway(error)) return recordsUnavailable();
  return new DomainError('internal_error', 'Something went wrong on our side. Try again with the same key.');
}

export function bodyTooLarge(): DomainError {
  return new DomainError('body_too_large', 'The body is larger than 64 KiB. Send a smaller one.');
}

export function mediaTypeUnsupported(
  types: readonly string[] = ['application/json', 'application/x-www-form-urlencoded'],
) {
  return new DomainError(
    'media_type_unsupported',
    `Send the body as ${types.join(' or ')}, in UTF-8 and uncompressed.`,
  );
}

export function routeNotFound(): DomainError {
  return new DomainError('route_not_found', 'There is no route at this path. See /docs for all routes.');
}

function httpStatusOf(error: unknown): number | null {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : null;
}

const AWAY_SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

// Classes of SQLSTATE: connection lost, rolled back in a conflict (after our own retries), out of resources, operator
// intervention (shutdown, start-up, statement timeout); and the timeout of an idle transaction.
const AWAY_SQLSTATES = /^(?:08|40|53|57)[0-9A-Z]{3}$|^25P03$/;

function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string') {
    return AWAY_SOCKET_CODES.has(error.code) || AWAY_SQLSTATES.test(error.code);
  }
  return /timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable/.test(
    error.message,
  );
}
