// The operation of a route in the OpenAPI document, generated from the description of the route.
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiRequestBodyObject, ZodOpenApiResponseObject } from 'zod-openapi';
import type { Role } from '../domain/accounts/member.ts';
import { errorCategory, type ErrorCode } from '../domain/errors.ts';
import type { ErrorCategory } from '../domain/error-codes.ts';
import { isPublic, type Access } from './access.ts';
import { HTTP_STATUS } from './errors.ts';
import { fitsForm, formSchemaOf, isPairs } from './form.ts';
import { NOT_FOUND, type RouteDescription } from './route-description.ts';
import { errorSchema } from './schemas/error.ts';
import { consoleHeader, idempotencyKeyHeader, pathId, userAgentHeader } from './schemas/primitives.ts';

type Headers = Record<
  string,
  { schema: { type: 'string' | 'integer'; minimum?: number; enum?: string[] }; description: string }
>;

const REQUEST_ID_HEADER = {
  'Malipo-Request-Id': { schema: { type: 'string' }, description: 'Quote it when you ask for help.' },
} as const;

const RETRY_AFTER = {
  'Retry-After': {
    schema: { type: 'integer', minimum: 1 },
    description: 'Seconds to wait before the next attempt.',
  },
} as const;

const SET_COOKIE = {
  'Set-Cookie': {
    schema: { type: 'string' },
    description: 'The session cookie, for the browser to store or to delete.',
  },
} as const;

// The headers that error responses of a status have, besides the id of the request.
const REPLAYED: Headers = {
  'Idempotent-Replayed': {
    schema: { type: 'string', enum: ['true'] },
    description: 'The stored response of an earlier request.',
  },
};

const ERROR_HEADERS: Readonly<Record<number, Headers>> = {
  // The only refusal that is stored.
  402: REPLAYED,
  401: { 'WWW-Authenticate': { schema: { type: 'string' }, description: 'The authentication scheme: `Bearer`.' } },
  405: { Allow: { schema: { type: 'string' }, description: 'The methods that the path supports.' } },
  409: RETRY_AFTER,
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

const STORED_RESPONSE_HEADERS: Headers = { ...REQUEST_ID_HEADER, ...REPLAYED };

const KEY_ERRORS: readonly ErrorCode[] = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_wrong_environment',
  'api_key_expired',
  'api_key_revoked',
  'insufficient_scope',
];
/** A code, with its category if that differs from the code's own category. */
type Refusal = ErrorCode | readonly [ErrorCode, ErrorCategory];
const NOT_AUTHENTICATED: Refusal = ['permission_denied', 'unauthenticated'];
const IDEMPOTENCY_ERRORS: readonly ErrorCode[] = [
  'idempotency_key_missing',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_key_in_flight',
];
const STEP_UP_TEXT = 'In a session: within five minutes of a log-in or step-up.';
const ERRORS_ANYWHERE: readonly ErrorCode[] = [
  'method_not_allowed',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];

/** The operation with security, parameters, body, responses and errors, all derived from the description. */
export function operationOf(route: RouteDescription): ZodOpenApiOperationObject {
  const { operationId, tag, summary, access, needsStepUp, idPrefix, isIdempotent, query, body } = route;
  const { response, waitingResponse } = route;
  const roles = rolesOf(access);
  const headers = headerParameters(route);
  const texts = [accessText(access), needsStepUp && STEP_UP_TEXT, route.description];
  const requestParams = {
    ...(idPrefix !== undefined && { path: pathId(idPrefix) }),
    ...(headers && { header: headers }),
    ...(query && { query }),
  };
  const hasParameters = Object.keys(requestParams).length > 0;
  return {
    operationId,
    tags: [tag],
    summary,
    description: texts.filter((text) => text !== undefined).join(' '),
    ...(roles && { 'x-roles': roles }),
    ...(needsStepUp && { 'x-step-up': true }),
    ...(!isPublic(access) && { security: access === 'anyone' ? [] : [{ consoleSession: [] }] }),
    // The document writes an empty list of parameters for the console, and none for the public API.
    ...((hasParameters || !isPublic(access)) && { requestParams }),
    ...(body && { requestBody: requestBodyOf(body) }),
    responses: {
      [`${response.status}`]: {
        description: response.description,
        headers: {
          ...(isIdempotent ? STORED_RESPONSE_HEADERS : REQUEST_ID_HEADER),
          ...(route.setsCookie && SET_COOKIE),
        },
        ...(response.schema && { content: { [response.type ?? 'application/json']: { schema: response.schema } } }),
      },
      ...(waitingResponse && { '202': responseWith(waitingResponse.description, waitingResponse.schema) }),
      ...errorResponses(errorsOf(route)),
    },
  };
}

export function responseWith(
  description: string,
  schema: z.ZodType,
  type = 'application/json',
): ZodOpenApiResponseObject {
  return { description, headers: REQUEST_ID_HEADER, content: { [type]: { schema } } };
}

/** The error responses of an operation that can be refused with these codes, one for each status. */
export function errorResponses(codes: readonly Refusal[]): Record<string, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const refusal of new Set([...codes, ...ERRORS_ANYWHERE])) {
    const [code, category] = typeof refusal === 'string' ? [refusal, errorCategory(refusal)] : refusal;
    const status = HTTP_STATUS[category];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, statusCodes]) => [String(status), errorResponse(status, statusCodes)]),
  );
}

function errorResponse(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: { ...REQUEST_ID_HEADER, ...ERROR_HEADERS[status] },
    content: { 'application/json': { schema: errorSchema, examples } },
  };
}

function headerParameters({ method, access, isIdempotent, body }: RouteDescription): z.ZodObject | undefined {
  // A session also needs the marker on the public API. For a key the marker is not required.
  const marker = method === 'get' || access === 'anyone' ? undefined : consoleHeader(!isPublic(access));
  // A client of openapi-python-client loads only if an operation with two kinds of bodies has an optional parameter.
  const client = body && !isPublic(access) ? userAgentHeader : undefined;
  const shapes = [isIdempotent && idempotencyKeyHeader, marker, client].map((header) => (header ? header.shape : {}));
  const shape = Object.assign({}, ...shapes) as z.ZodRawShape;
  return Object.keys(shape).length > 0 ? z.object(shape) : undefined;
}

// In the order of the document, which differs between lists of the public API and of the console.
function errorsOf({ access, idPrefix, isIdempotent, query, body, errors = [] }: RouteDescription): Refusal[] {
  const codes: Refusal[] = isPublic(access) ? [...KEY_ERRORS, NOT_AUTHENTICATED] : [NOT_AUTHENTICATED];
  if (access !== 'anyone') codes.push('permission_denied');
  if (isIdempotent) codes.push(...IDEMPOTENCY_ERRORS);
  if (body) codes.push('parameter_missing');
  if (body || (query && isPublic(access))) codes.push('parameter_invalid');
  codes.push('parameter_unknown');
  if (query) codes.push('parameter_invalid', 'cursor_invalid');
  if (idPrefix) codes.push(NOT_FOUND[idPrefix]);
  codes.push(...errors);
  // For any request: a body that the route does not expect is refused too.
  codes.push('body_malformed', 'body_too_large', 'media_type_unsupported');
  return codes;
}

const ACCESS_TEXTS = {
  session: 'Any person with a session.',
  ownSession: 'Any person with a session, also before they enrol the second factor that their roles require.',
  anyone: 'Without a session.',
} as const;

function accessText(access: Access): string {
  if (isPublic(access)) return `Scope \`${access.scope}\`.`;
  if (typeof access === 'string') return ACCESS_TEXTS[access];
  const roles = rolesOf(access)?.map((role) => `\`${role}\``) ?? [];
  return `Roles: ${roles.join(', ')}.`;
}

/** Undefined if the access does not depend on a role. */
function rolesOf(access: Access): Role[] | undefined {
  if (typeof access === 'string' || isPublic(access)) return undefined;
  return [...new Set<Role>(['owner', ...access.roles])];
}

function requestBodyOf(schema: z.ZodObject): ZodOpenApiRequestBodyObject {
  const pairs = Object.entries(schema.shape).filter(([, field]) => isPairs(field));
  const encoding = Object.fromEntries(pairs.map(([name]) => [name, { style: 'deepObject' as const, explode: true }]));
  return {
    required: !schema.safeParse({}).success,
    content: {
      'application/json': { schema },
      ...(fitsForm(schema) && {
        'application/x-www-form-urlencoded': { schema: formSchemaOf(schema), ...(pairs.length > 0 && { encoding }) },
      }),
    },
  };
}
