// Reads bodies of at most 64 KiB, JSON or forms, as one plain object of fields.
import { bodyParser } from '@koa/bodyparser';
import type { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { refuseBrokenBody } from '../broken-body.ts';
import type { ApiMiddleware } from '../context.ts';
import { mediaTypeUnsupported } from '../errors.ts';
import { fitsForm, parseForm, readFields } from '../form.ts';
import { parseJson } from '../json.ts';

type Context = Parameters<ApiMiddleware>[0];

export const MAX_BODY_BYTES = 64 * 1024;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

// Read as bytes, one character each: the parser's own reading replaces what is not UTF-8, keeps the last of two fields
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

/**
 * Reads the fields of a JSON body or a form. `schema` says what the text in a form stands for; it does not check anything.
 */
export function bodyReader(schema: z.ZodObject): (ctx: Context) => Promise<object> {
  const types = fitsForm(schema) ? [JSON_TYPE, FORM_TYPE] : [JSON_TYPE];
  return (ctx) =>
    readBodyAs(ctx, types, parseBytes, (type) => {
      const text = decode(ctx.request.rawBody);
      if (type === FORM_TYPE) return readFields(parseForm(text), schema);
      return text === '' ? {} : parseJson(text);
    });
}

/** The text of a form that a browser posted; null: it is no form. */
export async function readFormText(ctx: Context): Promise<string | null> {
  if (ctx.is(FORM_TYPE) !== FORM_TYPE || !isPlain(ctx.get('Content-Encoding'))) return null;
  refuseBrokenBody(ctx.req);
  await parseBytes(ctx, () => Promise.resolve());
  return decode(ctx.request.rawBody);
}

/** The fields of a JSON body from an operator. It is less strict, because operators will not change what they send. */
export async function readJsonBody(ctx: Context): Promise<object> {
  return readBodyAs(ctx, [JSON_TYPE], parseAnyJson, () => ctx.request.body);
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: string): string {
  try {
    return UTF_8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    throw new DomainError('body_malformed', 'The body is not text in UTF-8.');
  }
}

async function readBodyAs(
  ctx: Context,
  types: string[],
  parse: ApiMiddleware,
  readParsed: (type: string) => unknown,
): Promise<object> {
  // No body at all counts as an empty one, so that the missing fields are named.
  const type = ctx.is(types);
  if (type === null || ctx.request.length === 0) return {};
  if (type === false || !isPlain(ctx.get('Content-Encoding'))) throw mediaTypeUnsupported(types);
  refuseBrokenBody(ctx.req);
  await parse(ctx, () => Promise.resolve());
  const body = readParsed(type);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new DomainError('body_malformed', 'The body must be one object of fields.');
  }
  return body;
}

// Nobody needs to compress 64 KiB, and unpacking would bring errors and bombs of its own.
function isPlain(encoding: string): boolean {
  return encoding === '' || encoding.toLowerCase() === 'identity';
}
