// A route as data: the router and the OpenAPI document are both made from it, so they cannot disagree.
import type { z } from 'zod';
import type {
  ZodOpenApiHeadersObject,
  ZodOpenApiOperationObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import { errorCategory, type ErrorCode } from '../domain/errors.ts';
import type { ApiMiddleware } from './context.ts';
import { HTTP_STATUS } from './errors.ts';
import { errorSchema } from './schemas/error.ts';

export type Route = {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly operation: ZodOpenApiOperationObject;
  /** In order; the last one answers. */
  readonly pipeline: readonly ApiMiddleware[];
};

export const REQUEST_ID_HEADER = {
  'Malipo-Request-Id': { schema: { type: 'string' }, description: 'Name it when you ask for help.' },
} as const;

/** Of an answer that is kept under its Idempotency-Key. */
export const STORED_RESPONSE_HEADERS: ZodOpenApiHeadersObject = {
  ...REQUEST_ID_HEADER,
  'Idempotent-Replayed': { schema: { type: 'string', enum: ['true'] }, description: 'A repeated answer.' },
};

/** The body of a request for a new payment, as JSON or as a form. */
export function createRequestBody(schema: z.ZodObject): ZodOpenApiRequestBodyObject {
  return {
    required: true,
    content: {
      'application/json': { schema },
      'application/x-www-form-urlencoded': {
        schema,
        // metadata[order]=1042
        encoding: { metadata: { style: 'deepObject', explode: true } },
      },
    },
  };
}

export const AUTHENTICATION_ERRORS: readonly ErrorCode[] = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_wrong_environment',
  'api_key_expired',
  'api_key_revoked',
  'insufficient_scope',
  // A session behind the same routes.
  'permission_denied',
];
export const IDEMPOTENCY_ERRORS: readonly ErrorCode[] = [
  'idempotency_key_missing',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_key_in_flight',
];

/** What a request for a new payment can meet. */
export const CREATE_PAYMENT_ERRORS: readonly ErrorCode[] = [
  ...IDEMPOTENCY_ERRORS,
  'parameter_missing',
  'parameter_invalid',
  'parameter_unknown',
  'phone_invalid',
  'phone_unsupported',
  'amount_out_of_bounds',
  'body_malformed',
  'body_too_large',
  'media_type_unsupported',
];
const ANYWHERE: readonly ErrorCode[] = ['rate_limited', 'internal_error', 'service_unavailable'];

/** The error answers of an operation that can meet these codes, one per status. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...codes, ...ANYWHERE]) {
    const status = HTTP_STATUS[errorCategory(code)];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, statusCodes]) => [
      String(status),
      {
        description: statusCodes.map((code) => `\`${code}\``).join(', '),
        headers: REQUEST_ID_HEADER,
        content: { 'application/json': { schema: errorSchema } },
      },
    ]),
  );
}

/** `/a/{id}` as the router writes it: `/a/:id`. */
export function routerPath(path: string): string {
  return path.replace(/\{([a-z_]+)\}/g, ':$1');
}
