// Validates requests against their schemas, and turns all issues of zod into one error.
import { z } from 'zod';
import { invalidParameters, type ErrorCode, type ParameterIssue } from '../domain/errors.ts';
import { withoutInvisible } from '../domain/visible-text.ts';
import { isFields, isWrapper, Repeated } from './form.ts';

/** By parameter: the code for any fault, or for its range alone, instead of the general code. */
export type CodesByParameter = Readonly<Record<string, { readonly any?: ErrorCode; readonly range?: ErrorCode }>>;

// Otherwise a body of nothing but wrong names would get a response many times its size.
const MAX_ISSUES = 100;
const MAX_ISSUES_BYTES = 32 * 1024;
const MAX_NAME_LENGTH = 100;

/** The parsed value; null for an optional field counts as missing. Throws one error with up to 100 issues and 32 KiB. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  codes: CodesByParameter = {},
): z.output<Schema> {
  const parsed = schema.safeParse(withoutNulls(value, schema), { reportInput: true, error: explain });
  if (parsed.success) return parsed.data;
  const [first, ...rest] = listed(withoutRepeats(parsed.error.issues.flatMap((issue) => toIssues(issue, codes))));
  if (!first) throw new Error('zod refused a value and said nothing');
  throw invalidParameters([first, ...rest]);
}

/** Without the nulls of optional fields, at any depth, unless null has its own meaning: some clients send them. */
function withoutNulls(value: unknown, schema: unknown): unknown {
  if (isWrapper(schema)) return withoutNulls(value, schema.unwrap());
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((one) => withoutNulls(one, schema.element));
  if (!(schema instanceof z.ZodObject) || !isFields(value)) return value;
  // A name from the caller may equal a property that every object has.
  const fields = new Map<string, z.ZodType>(Object.entries(schema.shape));
  const given = Object.entries(value).filter(([name, field]) => field !== null || !isOptional(fields.get(name)));
  return Object.fromEntries(given.map(([name, field]) => [name, withoutNulls(field, fields.get(name))]));
}

function isOptional(field: z.ZodType | undefined): boolean {
  return field !== undefined && field.safeParse(undefined).success && !field.safeParse(null).success;
}

function listed(issues: readonly ParameterIssue[]): ParameterIssue[] {
  let bytes = 0;
  return issues.slice(0, MAX_ISSUES).filter((issue) => {
    bytes += Buffer.byteLength(JSON.stringify(issue));
    return bytes <= MAX_ISSUES_BYTES;
  });
}

export function definedFields<Fields extends object>(fields: Fields) {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}

// Two rules that refuse one value for the same reason make one issue.
function withoutRepeats(issues: readonly ParameterIssue[]): ParameterIssue[] {
  const firsts = new Map<string, ParameterIssue>();
  for (const issue of issues) {
    const key = `${issue.code} ${issue.param}`;
    if (!firsts.has(key)) firsts.set(key, issue);
  }
  return [...firsts.values()];
}

function toIssues(issue: z.core.$ZodIssue, codes: CodesByParameter): ParameterIssue[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const param = inOneLine([...path, key].join('.'));
      const message = `"${param}" is not a parameter of this request. Remove it, or check its spelling.`;
      return { param, code: 'parameter_unknown', message };
    });
  }
  const param = inOneLine(path.join('.'));
  if (issue.code === 'invalid_type' && issue.input === undefined) {
    return [{ param, code: 'parameter_missing', message: `${param} is required.` }];
  }
  const special = codes[path[0] ?? ''];
  const isRange = issue.code === 'too_small' || issue.code === 'too_big';
  const code = special?.any ?? (isRange ? special?.range : undefined) ?? 'parameter_invalid';
  return [{ param, code, message: messageFor(issue, param) }];
}

function messageFor(issue: z.core.$ZodIssue, param: string): string {
  if (issue.input instanceof Repeated) {
    return `${param} was given ${issue.input.length === 2 ? 'twice' : `${issue.input.length} times`}. Send it once.`;
  }
  return (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object of fields',
  record: 'an object of fields',
};

// Instead of zod's own messages, for schemas without a message of ours.
function explain(issue: z.core.$ZodRawIssue): string {
  const name = nameOf(issue.path ?? []);
  const kind = 'origin' in issue ? issue.origin : '';
  const unit = kind === 'string' ? ' characters' : kind === 'array' ? ' entries' : '';
  if (issue.code === 'invalid_type') return `${name} must be ${KINDS[issue.expected] ?? 'of another type'}.`;
  if (issue.code === 'invalid_value') return `${name} must be one of: ${issue.values.map(String).join(', ')}.`;
  if (issue.code === 'too_big') return `${name} must be at most ${issue.maximum}${unit}.`;
  if (issue.code === 'too_small') return `${name} must be at least ${issue.minimum}${unit}.`;
  return `${name} does not have the required form. See /docs.`;
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'The body' : inOneLine(path.map(String).join('.'));
}

// The caller chooses names. Line breaks, control and invisible characters are escaped, so that a message stays on one
// line; long names are cut.
function inOneLine(name: string): string {
  const written = withoutInvisible(name.slice(0, MAX_NAME_LENGTH + 1));
  return written.length > MAX_NAME_LENGTH ? `${written.slice(0, MAX_NAME_LENGTH)}…` : written;
}
