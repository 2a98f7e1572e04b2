// Gives every request an id and a log line, and every failure an error body.
import { errorBody } from '../../domain/errors.ts';
import { newId, type MerchantId } from '../../domain/ids.ts';
import type { Log } from '../../log.ts';
import { clientNetwork } from '../client-address.ts';
import { matchedRoute, type ApiMiddleware, type ApiState } from '../context.ts';
import { HTTP_STATUS, toDomainError } from '../errors.ts';
import { createRefusalLog } from '../refusal-log.ts';

export function requestId(): ApiMiddleware {
  return async (ctx, next) => {
    // A target that cannot be parsed gets the same response as an unknown path.
    if (!isParseable(ctx)) ctx.url = '/';
    ctx.state.requestId = newId('req');
    ctx.set('Malipo-Request-Id', ctx.state.requestId);
    await next();
  };
}

export function accessLog(log: Log): ApiMiddleware {
  return async (ctx, next) => {
    const startedMs = performance.now();
    try {
      await next();
    } finally {
      const { method, path, status } = ctx;
      const durationMs = Math.round((performance.now() - startedMs) * 10) / 10;
      const merchantId = merchantOf(ctx);
      log.debug({ requestId: ctx.state.requestId, method, path, status, durationMs, merchantId }, 'request');
    }
  };
}

export function errorResponder(log: Log): ApiMiddleware {
  const logRefusal = createRefusalLog(log);
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toDomainError(thrown);
      if (error.category === 'internal' || error.category === 'unavailable') {
        log.error({ error: thrown, requestId: ctx.state.requestId, path: ctx.path }, 'request failed');
      }
      logRefusal(error, {
        requestId: ctx.state.requestId,
        method: ctx.method,
        route: matchedRoute(ctx),
        network: clientNetwork(ctx),
        merchantId: merchantOf(ctx),
      });
      ctx.status = HTTP_STATUS[error.category];
      ctx.body = errorBody(error, ctx.state.requestId);
      if (error.category === 'unauthenticated') ctx.set('WWW-Authenticate', 'Bearer');
      if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds));
    }
  };
}

function merchantOf({ state }: { readonly state: ApiState }): MerchantId | undefined {
  return state.caller?.merchantId ?? state.session?.person.merchantId;
}

function isParseable(ctx: { readonly path: string }): boolean {
  try {
    return ctx.path.length > 0;
  } catch {
    return false;
  }
}
