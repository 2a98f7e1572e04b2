// Reads a parameter from the query of a request.
import type { Context } from 'koa';

/** The first value, if the parameter is given several times. */
export function queryValue(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return Array.isArray(value) ? value[0] : value;
}
