// Reads bodies: JSON and forms, 64 KiB at the most, as one plain object either way.
import { bodyParser } from '@koa/bodyparser';
import { DomainError } from '../../domain/errors.ts';
import type { ApiMiddleware } from '../context.ts';
import { mediaTypeUnsupported } from '../errors.ts';
import { parseForm } from '../form.ts';

export const MAX_BODY_BYTES = 64 * 1024;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

// Forms are read as text: the parser's own reading of them drops some names and splits others.
const parse = bodyParser({
  enableTypes: ['json', 'text'],
  extendTypes: { text: [FORM_TYPE] },
  jsonLimit: MAX_BODY_BYTES,
  textLimit: MAX_BODY_BYTES,
  jsonStrict: true,
}) as unknown as ApiMiddleware;

/** After it `ctx.request.body` is an object, from JSON or a form. */
export function readBody(): ApiMiddleware {
  return readBodyAs([JSON_TYPE, FORM_TYPE]);
}

/** The same where nothing but JSON is spoken. */
export function readJsonBody(): ApiMiddleware {
  return readBodyAs([JSON_TYPE]);
}

function readBodyAs(types: string[]): ApiMiddleware {
  return async (ctx, next) => {
    // No body at all: the same as an empty one, so that the missing fields are named.
    if (ctx.is(types) === null || ctx.request.length === 0) {
      ctx.request.body = {};
      await next();
      return;
    }
    if (ctx.is(types) === false || !isPlain(ctx.get('Content-Encoding'))) throw mediaTypeUnsupported();
    await parse(ctx, async () => {
      const body: unknown = isForm(ctx) ? parseForm(ctx.request.rawBody) : ctx.request.body;
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        throw new DomainError('body_malformed', 'The body must be one object of fields.');
      }
      ctx.request.body = body;
      await next();
    });
  };
}

// Nobody needs to compress 64 KiB, and what unpacks it would have errors and bombs of its own.
function isPlain(encoding: string): boolean {
  return encoding === '' || encoding.toLowerCase() === 'identity';
}

/** Whether the fields came as a form, where every value is text. */
export function isForm(ctx: { is(type: string): string | false | null }): boolean {
  return ctx.is(FORM_TYPE) === FORM_TYPE;
}
