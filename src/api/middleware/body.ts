// Reads bodies of at most 64 KiB, JSON or forms, as one plain object of fields.
import type { IncomingMessage } from 'node:http';
import { bodyParser } from '@koa/bodyparser';
import type { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { bodyBroken, refuseBrokenBody } from '../broken-body.ts';
import type { ApiContext } from '../context.ts';
import { mediaTypeUnsupported } from '../errors.ts';
import { fitsForm, parseForm, readFields } from '../form.ts';
import { parseJson, unreadable } from '../json.ts';

export const MAX_BODY_BYTES = 64 * 1024;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

// Read as bytes, one character each. The parser's own decoding replaces bytes that are not UTF-8, keeps the last of two
// fields with one name, drops some names of forms and splits others.
const parseBytes = bodyParser({ enableTypes: ['text'], encoding: 'binary', textLimit: MAX_BODY_BYTES }) as unknown as (
  request: ParsedRequest,
  next: () => Promise<void>,
) => Promise<void>;

/** The parts of a request that the parser reads, and where it puts the body. */
type ParsedRequest = {
  readonly method: 'POST';
  readonly req: IncomingMessage;
  readonly request: { rawBody?: string; get(header: string): string };
};

/**
 * Reads the fields of a JSON body or a form. `schema` tells how to convert the text in a form; nothing is validated
 * here. A missing or empty body has no fields. Throws `media_type_unsupported`, `body_too_large` or `body_malformed`.
 */
export function bodyReader(schema: z.ZodObject): (ctx: ApiContext) => Promise<object> {
  const types = fitsForm(schema) ? [JSON_TYPE, FORM_TYPE] : [JSON_TYPE];
  return async (ctx) => {
    if (!hasBody(ctx)) return {};
    const type = typeAmong(ctx, types);
    // Some clients send an empty body without a length or a type.
    if (type === null && ctx.get('Content-Type') !== '') throw mediaTypeUnsupported(types);
    const bytes = await readBytes(ctx, types);
    if (bytes === '') return {};
    if (type === null) throw mediaTypeUnsupported(types);
    const text = decode(bytes);
    return type === FORM_TYPE ? readFields(parseForm(text), schema) : objectOf(parseJson(text));
  };
}

/** Whether the request announces a body that is not empty. */
export function hasBody({ req: { headers } }: ApiContext): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The text of a form that a browser posted; null if the body is no form. */
export async function readFormText(ctx: ApiContext): Promise<string | null> {
  if (typeAmong(ctx, [FORM_TYPE]) === null) return null;
  return hasBody(ctx) ? decode(await readBytes(ctx, [FORM_TYPE])) : '';
}

/**
 * The body of an operator's callback as text, and a function that reads its fields or throws `body_malformed`. Its
 * media type is ignored, and the last of two fields with one name counts: a callback comes once and is a hint.
 */
export async function readCallback(ctx: ApiContext): Promise<{ readonly text: string; readonly fields: () => object }> {
  const bytes = hasBody(ctx) ? await readBytes(ctx, [JSON_TYPE]) : '';
  const text = new TextDecoder().decode(Buffer.from(bytes, 'latin1'));
  return { text, fields: () => (text === '' ? {} : objectOf(parseLoosely(text))) };
}

async function readBytes(ctx: ApiContext, types: readonly string[]): Promise<string> {
  if (!isPlain(ctx.get('Content-Encoding'))) throw mediaTypeUnsupported(types);
  refuseBrokenBody(ctx.req);
  // The parser reads no other types and methods. They are checked before the parser runs.
  const parsed: ParsedRequest = { method: 'POST', req: ctx.req, request: { get: () => 'text/plain' } };
  await parseBytes(parsed, () => Promise.resolve());
  const { rawBody } = parsed.request;
  if (rawBody === undefined) throw bodyBroken();
  return rawBody;
}

/** The one of these media types that the body has, in UTF-8; null if it has none of them. */
function typeAmong(ctx: ApiContext, types: string[]): string | null {
  const type = ctx.is(types);
  return typeof type === 'string' && isUtf8Charset(ctx.get('Content-Type')) ? type : null;
}

const CHARSET = /;\s*charset\s*=\s*("[^"]*"|[^;]*)/gi;

function isUtf8Charset(contentType: string): boolean {
  return [...contentType.matchAll(CHARSET)].every(([, charset = '']) => /^"?utf-?8"?\s*$/i.test(charset));
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: string): string {
  try {
    return UTF_8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    throw new DomainError('body_malformed', 'The body is not text in UTF-8.');
  }
}

function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable();
  }
}

function objectOf(body: unknown): object {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new DomainError('body_malformed', 'The body must be one object of fields.');
  }
  return body;
}

// A body of 64 KiB needs no compression, and decompression would add errors and bombs.
function isPlain(encoding: string): boolean {
  return encoding === '' || encoding.toLowerCase() === 'identity';
}
