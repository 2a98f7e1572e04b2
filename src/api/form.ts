// Converts the flat text of a form into the object of fields that JSON would have carried.
import { z } from 'zod';
import { DomainError } from '../domain/errors.ts';

type Fields = Record<string, unknown>;

// `metadata[order]`, one level deep: no request has a field whose name has more brackets.
const PAIR_NAME = /^([^[\]]+)\[([^[\]]+)\]$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** The values of a name that a form or query has more than once. If the schema expects a list, they are that list. */
export class Repeated extends Array<unknown> {}

/**
 * The fields of a URL-encoded form, with text values; `metadata[order]=1042` is the pair `order` of `metadata`. A name
 * that occurs twice becomes `Repeated`: the schema refuses it or reads it as a list. Throws `body_malformed` for
 * `__proto__`, which JSON refuses too, and for escapes that are not UTF-8.
 */
export function parseForm(text: string): Fields {
  if (!isUtf8(text)) throw new DomainError('body_malformed', 'The percent escapes in the form are not valid UTF-8.');
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
 * The fields of a form with the values that the schema expects instead of text: digits as a number, `true` and `false`
 * as booleans, one value as a list, empty text as null. Text that does not fit stays text, and the schema refuses it.
 */
export function readFields(fields: Fields, { shape }: z.ZodObject): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (!Object.hasOwn(shape, name)) return [name, value];
      if (value instanceof Repeated && unwrapped(shape[name]) instanceof z.ZodArray) return [name, [...value]];
      return [name, typeof value === 'string' ? readText(value, shape[name]) : value];
    }),
  );
}

/**
 * The schema of these fields in a form, for the document: empty text stands for null, names of pairs have no brackets.
 * It always has its own name: generated clients decide by the type of a body whether to send JSON or a form.
 */
export function formSchemaOf(schema: z.ZodObject): z.ZodObject {
  const form = forms.get(schema) ?? formOf(schema);
  forms.set(schema, form);
  return form;
}

// One form schema for each schema, however many routes use it.
const forms = new WeakMap<z.ZodObject, z.ZodObject>();

function formOf(schema: z.ZodObject): z.ZodObject {
  const others = Object.entries<z.ZodType>(schema.shape).filter(([, field]) => isNullable(field) || isPairs(field));
  const meta = schema.meta() ?? {};
  const fields = Object.fromEntries(others.map(([name, field]) => [name, fieldInForm(field)]));
  return z.strictObject({ ...schema.shape, ...fields }).meta({ ...meta, id: `${String(meta.id)}Form` });
}

/** Whether a form can carry these fields: a form cannot express a list of objects. */
export function fitsForm({ shape }: z.ZodObject): boolean {
  return !Object.values<z.ZodType>(shape).some(isListOfObjects);
}

function isListOfObjects(field: unknown): boolean {
  const list = unwrapped(field);
  return list instanceof z.ZodArray && list.element instanceof z.ZodObject;
}

/** Whether a form carries this field as pairs, as in `metadata[order]=1042`. */
export function isPairs(field: unknown): boolean {
  return unwrapped(field) instanceof z.ZodRecord;
}

function unwrapped(field: unknown): unknown {
  return isWrapper(field) ? unwrapped(field.unwrap()) : field;
}

function readText(text: string, field: unknown): unknown {
  if (field instanceof z.ZodNullable && text === '') return null;
  if (isWrapper(field)) return readText(text, field.unwrap());
  if (field instanceof z.ZodNumber && /^[0-9]{1,16}$/.test(text)) return Number(text);
  if (field instanceof z.ZodBoolean) return BOOLEANS.get(text) ?? text;
  return field instanceof z.ZodArray ? [text] : text;
}

function fieldInForm(field: z.ZodType): z.ZodType {
  if (field instanceof z.ZodRecord) return pairsInForm(field);
  if (!isWrapper(field)) return field;
  const inner = fieldInForm(field.unwrap() as z.ZodType);
  const wrapped = field instanceof z.ZodOptional ? inner.optional() : inner;
  return (field instanceof z.ZodNullable ? z.union([wrapped, z.literal('')]) : wrapped).meta(field.meta() ?? {});
}

function pairsInForm(field: z.ZodRecord): z.ZodType {
  const name = field.keyType as z.ZodString;
  const within = name.meta({ ...name.meta(), allOf: [{ pattern: '^[^\\[\\]]*$' }] });
  return z.record(within, field.valueType).meta(field.meta() ?? {});
}

function isNullable(field: z.ZodType): boolean {
  return field.safeParse(null).success;
}

/** Whether the schema wraps that of another field, to let it be missing or null. */
export function isWrapper(field: unknown): field is z.ZodOptional | z.ZodNullable | z.ZodDefault {
  return field instanceof z.ZodOptional || field instanceof z.ZodNullable || field instanceof z.ZodDefault;
}

/** Whether every escape is part of a UTF-8 character. A percent sign that begins no escape stands for itself. */
export function isUtf8(form: string): boolean {
  try {
    decodeURIComponent(form.replace(/%(?![0-9a-f]{2})/gi, ''));
    return true;
  } catch {
    return false;
  }
}

// Without a prototype, so that no field name is in use already.
function emptyFields(): Fields {
  return Object.create(null) as Fields;
}

/** Whether the value is an object of fields and not a list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function put(fields: Fields, name: string, value: unknown): Fields {
  if (name === '__proto__') throw new DomainError('body_malformed', 'A field cannot have the name __proto__.');
  const held = fields[name];
  if (held === undefined) fields[name] = value;
  else if (held instanceof Repeated) held.push(value);
  else fields[name] = Repeated.of(held, value);
  return fields;
}
