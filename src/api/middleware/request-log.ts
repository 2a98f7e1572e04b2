// Notes each request of a known API key in the request log, whatever its outcome.
import type { ApiRequest } from '../../domain/accounts/api-request.ts';
import { isId, type RequestId } from '../../domain/ids.ts';
import { addressOf, pathIdOf, storedIdOf, type ApiContext, type ApiMiddleware } from '../context.ts';
import { isIdempotencyKey } from '../../security/request-fingerprint.ts';
import type { RequestLog } from '../request-log.ts';

const MAX_PATH_LENGTH = 300;

/** Runs outside the middleware that makes error responses. Notes no request in a session or with an unknown key. */
export function requestLog(requests: RequestLog): ApiMiddleware {
  return async (ctx, next) => {
    const createdAt = new Date();
    const startedMs = performance.now();
    try {
      await next();
    } finally {
      const { presentedKey } = ctx.state;
      if (presentedKey) {
        const durationMs = Math.round(performance.now() - startedMs);
        requests.note({ ...describe(ctx), ...presentedKey, durationMs, createdAt });
      }
    }
  };
}

function describe(ctx: ApiContext): Omit<ApiRequest, 'merchantId' | 'apiKeyId' | 'durationMs' | 'createdAt'> {
  const { method, status } = ctx;
  const body = ctx.body as { error?: { code?: string } } | null | undefined;
  const idempotencyKey = ctx.get('Idempotency-Key');
  return {
    id: ctx.state.requestId as RequestId,
    method,
    route: ctx.state.route ?? '',
    path: ctx.path.slice(0, MAX_PATH_LENGTH),
    status,
    errorCode: body?.error?.code ?? null,
    address: addressOf(ctx),
    idempotencyKey: isIdempotencyKey(idempotencyKey) ? idempotencyKey : null,
    isRepeat: ctx.response.get('Idempotent-Replayed') === 'true',
    objectId: objectOf(ctx),
  };
}

function objectOf(ctx: ApiContext): string | null {
  const inPath = pathIdOf(ctx);
  return isId('col', inPath) || isId('pay', inPath) ? inPath : (storedIdOf(ctx) ?? null);
}
