// Notes each request of a known API key in the request log, whatever became of it.
import type { ApiRequest } from '../../domain/accounts/api-request.ts';
import { isId, type RequestId } from '../../domain/ids.ts';
import { addressOf, type ApiContext, type ApiMiddleware } from '../context.ts';
import type { RequestLog } from '../request-log.ts';

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const ID_OF_STORED = /^\{"id":"([a-z]{3}_[0-9a-z]{26})"/;
const MAX_PATH_LENGTH = 300;

/** It stands outside of what makes errors into responses. A request of a session, or of a key that nobody has, is not noted. */
export function requestLog(requests: RequestLog | undefined): ApiMiddleware {
  return async (ctx, next) => {
    const createdAt = new Date();
    const startedMs = performance.now();
    try {
      await next();
    } finally {
      const { presentedKey } = ctx.state;
      if (requests && presentedKey) {
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
    idempotencyKey: IDEMPOTENCY_KEY.test(idempotencyKey) ? idempotencyKey : null,
    isRepeat: ctx.response.get('Idempotent-Replayed') === 'true',
    objectId: objectOf(ctx),
  };
}

function objectOf(ctx: ApiContext): string | null {
  const { params } = ctx as { params?: { id?: string } };
  const inPath = params?.id ?? '';
  if (isId('col', inPath) || isId('pay', inPath)) return inPath;
  return typeof ctx.body === 'string' ? (ID_OF_STORED.exec(ctx.body)?.[1] ?? null) : null;
}
