// The body of every error response.
import { z } from 'zod';
import { ERROR_CODES } from '../../domain/errors.ts';
import { idOf, objectSchema } from './primitives.ts';

const code = z
  .enum(ERROR_CODES)
  .meta({ id: 'ErrorCode', description: 'Stable. Finer codes may be added: treat an unknown one as its type.' });

export const errorSchema = objectSchema('Error', {
  error: z.strictObject({
    type: z.enum([
      'authentication_error',
      'permission_error',
      'invalid_request_error',
      'idempotency_error',
      'payment_error',
      'rate_limit_error',
      'api_error',
    ]),
    code,
    message: z.string().meta({ description: 'Tells a person what to do next.' }),
    param: z.string().nullable().meta({ description: 'The first wrong parameter.' }),
    request_id: idOf('req'),
    errors: z.array(z.strictObject({ param: z.string(), code, message: z.string() })).meta({
      description: 'All faults of the request.',
    }),
  }),
});
