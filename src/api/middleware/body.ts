// Reads bodies: JSON and forms, 64 KiB at the most, as one plain object either way.
import { bodyParser } from '@koa/bodyparser';
import { DomainError } from '../../domain/errors.ts';
import type { Context } from 'koa';
import type { ApiMiddleware } from '../context.ts';
import { mediaTypeUnsupported } from '../errors.ts';
import { parseForm } from '../form.ts';
import { parseJson } from '../json.ts';

export const MAX_BODY_BYTES = 64 * 1024;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

// Read as bytes, one character each: the parser's own reading replaces what is no UTF-8, keeps the last of two fields
// with one name, drops some names of forms and splits others.
const parseBytes = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: [JSON_TYPE, FORM_TYPE] },
  encoding: 'binary',
  textLimit: MAX_BODY_BYTES,
}) as unknown as ApiMiddleware;

const parseAnyJson = bodyParser({
  enableTypes: ['json'],
  jsonLimit: MAX_BODY_BYTES,
  jsonStrict: true,
}) as unknown as ApiMiddleware;

/** After it `ctx.request.body` is an object, from JSON or a form. */
export function readBody(): ApiMiddleware {
  return readBodyAs([JSON_TYPE, FORM_TYPE], parseBytes, (ctx) => {
    const text = decode(ctx.request.rawBody);
    if (isForm(ctx)) return parseForm(text);
    return text === '' ? {} : parseJson(text);
  });
}

/** The same where nothing but JSON is spoken, and whoever speaks it will not be taught to write it better. */
export function readJsonBody(): ApiMiddleware {
  return readBodyAs([JSON_TYPE], parseAnyJson, (ctx) => ctx.request.body);
}

function decode(bytes: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    throw new DomainError('body_malformed', 'The body is not text in UTF-8.');
  }
}

function readBodyAs(types: string[], parse: ApiMiddleware, bodyOf: (ctx: Context) => unknown): ApiMiddleware {
  return async (ctx, next) => {
    // No body at all: the same as an empty one, so that the missing fields are named.
    if (ctx.is(types) === null || ctx.request.length === 0) {
      ctx.request.body = {};
      await next();
      return;
    }
    if (ctx.is(types) === false || !isPlain(ctx.get('Content-Encoding'))) throw mediaTypeUnsupported();
    await parse(ctx, async () => {
      const body = bodyOf(ctx);
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
