// Gives every request an id, and every failure an error body.
import { errorBody, type DomainError } from '../../domain/errors.ts';
import { newId, type MerchantId } from '../../domain/ids.ts';
import type { Log } from '../../log.ts';
import { clientNetwork } from '../client-address.ts';
import { matchedRoute, type ApiContext, type ApiMiddleware, type ApiState } from '../context.ts';
import { HTTP_STATUS, toDomainError } from '../errors.ts';
import { createRefusalLog } from '../refusal-log.ts';

export function requestId(): ApiMiddleware {
  return (ctx, next) => {
    // A target that cannot be parsed gets the same response as an unknown path.
    if (!isParseable(ctx)) ctx.url = '/';
    ctx.state.requestId = newId('req');
    ctx.set('Malipo-Request-Id', ctx.state.requestId);
    return next();
  };
}

/** `respondWithPage` shows the error to people who read the response in a browser. It returns false for a program. */
export function errorResponder(
  log: Log,
  respondWithPage: (ctx: ApiContext, error: DomainError) => boolean,
): ApiMiddleware {
  const logRefusal = createRefusalLog(log);
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toDomainError(thrown);
      if (error.category === 'internal' || error.category === 'unavailable') ctx.state.failure = thrown;
      logRefusal(error, {
        requestId: ctx.state.requestId,
        method: ctx.method,
        route: matchedRoute(ctx),
        network: clientNetwork(ctx),
        merchantId: merchantOf(ctx),
      });
      if (!respondWithPage(ctx, error)) {
        ctx.status = HTTP_STATUS[error.category];
        ctx.body = errorBody(error, ctx.state.requestId);
      }
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
