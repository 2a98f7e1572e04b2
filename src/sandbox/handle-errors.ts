// Handles the sandbox operator's own errors and unreadable request bodies, for every wire protocol.
import type { Context, Middleware, Next } from 'koa';
import type { SandboxSettings } from './sandbox-config.ts';

/** `refuse` responds in the wire's format: a status below 500 means an unreadable body; 500 is a reported fault of the sandbox. */
export function handleErrors(
  { onError }: Pick<SandboxSettings, 'onError'>,
  refuse: (ctx: Context, status: number) => void,
): Middleware {
  return async (ctx: Context, next: Next) => {
    try {
      await next();
    } catch (error) {
      const status =
        error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 500;
      if (status >= 500) onError(error);
      refuse(ctx, Math.min(status, 500));
    }
  };
}
