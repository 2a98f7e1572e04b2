// Makes the JSON of an object by its schema: each field from the property of the same name, in the schema's order.
import type { z } from 'zod';

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/** Times are dates and amounts are bigints until they are sent. */
type Value<Field> = Field extends string
  ? Field | Date
  : Field extends number
    ? Field | bigint
    : Field extends readonly (infer Item)[]
      ? readonly Item[]
      : string extends keyof Field
        ? object
        : Field;

type Source<Fields> = { readonly [Name in keyof Fields as CamelCase<Name>]: Value<Fields[Name]> };

/** `created_at` is made from `createdAt`. Only the fields of the schema are sent, whatever else the source has. */
export function wireObject<Schema extends z.ZodObject>(
  schema: Schema,
  source: Source<z.input<Schema>>,
): z.input<Schema> {
  const values = source as Readonly<Record<string, unknown>>;
  const fields = Object.keys(schema.shape).map((name) => [name, wireValue(values[camelCase(name)])]);
  return Object.fromEntries(fields) as z.input<Schema>;
}

function wireValue(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'bigint' ? Number(value) : value;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
