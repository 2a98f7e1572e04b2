// What the sandbox operator does with an error of its own, or of a body that cannot be read, whatever the wire.
import type { Context, Middleware, Next } from 'koa';
import type { SandboxSettings } from './sandbox-config.ts';

/** `refuse` answers in the words of the wire: below 500 the body could not be read; 500 is a fault of the sandbox, which is reported. */
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
