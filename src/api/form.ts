// Forms say everything as flat text: this gives the object of fields back that JSON would have said.
import { DomainError } from '../domain/errors.ts';

type Fields = Record<string, unknown>;

// `metadata[order]`; whatever stands between the outer brackets is the key, to the letter.
const PAIR_NAME = /^([^[\]]+)\[(.+)\]$/s;

/**
 * The fields of a URL-encoded form, values as text; `metadata[order]=1042` is the pair `order` of `metadata`. A name that
 * comes twice becomes a list, for the schema to refuse. Throws `body_malformed` for the name that JSON cannot have here
 * either, and for escapes that are no UTF-8.
 */
export function parseForm(text: string): Fields {
  if (!isUtf8(text)) throw new DomainError('body_malformed', 'The escapes in the form are not text in UTF-8.');
  const fields = emptyFields();
  for (const [name, value] of new URLSearchParams(text)) {
    const [, outer, key] = PAIR_NAME.exec(name) ?? [];
    if (outer === undefined || key === undefined) put(fields, name, value);
    else if (isFields(fields[outer])) put(fields[outer], key, value);
    else put(fields, outer, put(emptyFields(), key, value));
  }
  return fields;
}

/**
 * The fields with those named `integers` as numbers where they are plain digits; what is not stays text, for the schema
 * to refuse.
 */
export function readIntegers(body: unknown, integers: readonly string[]): unknown {
  return mapFields(body, (name, value) => {
    const isInteger = integers.includes(name) && typeof value === 'string' && /^[0-9]{1,16}$/.test(value);
    return isInteger ? Number(value) : value;
  });
}

/** The fields of a form with those named `lists` as lists, also where only one came. */
export function readLists(body: unknown, lists: readonly string[]): unknown {
  return mapFields(body, (name, value) => (lists.includes(name) && typeof value === 'string' ? [value] : value));
}

/** The fields of a form with `true` and `false` as such in those named `flags`. */
export function readFlags(body: unknown, flags: readonly string[]): unknown {
  const values: Readonly<Record<string, boolean>> = { true: true, false: false };
  return mapFields(body, (name, value) =>
    flags.includes(name) && typeof value === 'string' ? (values[value] ?? value) : value,
  );
}

/** The fields of a form in which nothing at all is how to say null, in those named `nullables`. */
export function readNulls(body: unknown, nullables: readonly string[]): unknown {
  return mapFields(body, (name, value) => (nullables.includes(name) && value === '' ? null : value));
}

function mapFields(body: unknown, change: (name: string, value: unknown) => unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, unknown]) => [name, change(name, value)]),
  );
}

// A percent sign that begins no escape stands for itself in a form; every other must be a part of some character.
function isUtf8(form: string): boolean {
  try {
    decodeURIComponent(form.replace(/%(?![0-9a-f]{2})/gi, ''));
    return true;
  } catch {
    return false;
  }
}

// Without a prototype there is no name that is taken already.
function emptyFields(): Fields {
  return Object.create(null) as Fields;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function put(fields: Fields, name: string, value: unknown): Fields {
  if (name === '__proto__') throw new DomainError('body_malformed', 'A field cannot have the name __proto__.');
  const held = fields[name];
  if (held === undefined) fields[name] = value;
  else if (Array.isArray(held)) held.push(value);
  else fields[name] = [held, value];
  return fields;
}
