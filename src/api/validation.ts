// Checks the values of requests against their schemas, and turns everything that zod finds wrong into one error.
import type { z } from 'zod';
import { invalidParameters, type ErrorCode, type ParameterIssue } from '../domain/errors.ts';

/**
 * For a parameter by name: the code for anything wrong with it, or for its range alone, in place of the general code.
 */
export type CodesByParameter = Readonly<Record<string, { readonly any?: ErrorCode; readonly range?: ErrorCode }>>;

// A body of nothing but wrong names would otherwise get a response many times its size.
const MAX_ISSUES = 100;

/** The parsed value; throws one error that lists every issue, up to 100 of them. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  codes: CodesByParameter = {},
): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const issues = withoutRepeats(parsed.error.issues.flatMap((issue) => toIssues(issue, codes)));
  const [first, ...rest] = issues.slice(0, MAX_ISSUES);
  if (!first) throw new Error('zod refused a value and said nothing');
  throw invalidParameters([first, ...rest]);
}

/** The object without the fields that are undefined. */
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
  return [{ param, code, message: messageFor(param, issue) }];
}

// Our schemas carry a whole sentence; zod's own messages are prefixed with the parameter.
function messageFor(param: string, issue: z.core.$ZodIssue): string {
  const message = (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message;
  return message.endsWith('.') ? message : `${param} is not valid: ${message}.`;
}

// Names are text of the caller: line breaks, control and invisible characters are escaped, so that a message stays on
// one line wherever it is read.
function inOneLine(name: string): string {
  const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, escaped);
}
