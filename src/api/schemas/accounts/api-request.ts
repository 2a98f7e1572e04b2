// The request log on the wire.
import { z } from 'zod';
import { STATUS_CLASSES, type ListedApiRequest } from '../../../domain/accounts/api-request.ts';
import { isId } from '../../../domain/ids.ts';
import { idFilter, pageQuery, pageSchema, timeFilters } from '../page.ts';
import { idForm, idOf, objectSchema, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

const ROUTES = [
  ...['/v1/api/collections', '/v1/api/collections/{id}', '/v1/api/payouts', '/v1/api/payouts/{id}', '/v1/api/balance'],
] as const;

export const apiRequestSchema = objectSchema('ApiRequest', {
  id: idOf('req').meta({ description: '`Malipo-Request-Id` of the response.' }),
  api_key: z.strictObject({ id: idOf('key'), name: z.string().meta({ example: 'Shop server' }) }),
  method: z.string().meta({ example: 'POST' }),
  route: z.string().meta({ description: 'The path with parameter names in place of ids.', example: '/v1/api/payouts' }),
  path: z.string().meta({ description: 'As it was sent, without the query.', example: '/v1/api/payouts' }),
  status: z.int().meta({ example: 202 }),
  error_code: z.string().nullable().meta({ example: null }),
  duration_ms: z.int().min(0).meta({ example: 12 }),
  address: z.string().nullable().meta({ example: '203.0.113.7' }),
  idempotency_key: z.string().nullable().meta({ example: 'order-1042' }),
  is_repeat: z
    .boolean()
    .meta({ description: 'The response was the stored one of an earlier request.', example: false }),
  object_id: z
    .string()
    .nullable()
    .meta({
      description: 'The collection or payout that the request was about, or created.',
      example: idForm('pay').example,
    }),
  created_at: time,
});

export const apiRequestListSchema = pageSchema(apiRequestSchema, 'ApiRequestList');

export const listApiRequestsSchema = z.strictObject({
  ...pageQuery((id) => isId('req', id)).shape,
  key: idFilter('key', 'key').meta({ description: 'The id of an API key.' }),
  status: z.enum(STATUS_CLASSES).optional(),
  method: z.enum(['GET', 'POST']).optional(),
  route: z.enum(ROUTES).optional(),
  object: z
    .string()
    .refine((id) => isId('col', id) || isId('pay', id), { error: 'object must be the id of a collection or a payout.' })
    .optional()
    .meta({
      description: 'The id of a collection or payout.',
      pattern: '^(col|pay)_[0-7][0-9a-hjkmnp-tv-z]{25}$',
      example: idForm('pay').example,
    }),
  ...timeFilters,
});

export function apiRequestObject(request: ListedApiRequest) {
  return wireObject(apiRequestSchema, request);
}
