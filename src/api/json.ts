// Parses JSON, and refuses text that two parsers could understand differently.
import { DomainError } from '../domain/errors.ts';

// Valid JSON consists of these tokens, white space, and `true`, `false` and `null`.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|-?[0-9][0-9.eE+-]*/g;
const NUMBER = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/**
 * The parsed value. Throws `body_malformed` for text that is not JSON, for an object with a repeated name or the name
 * `__proto__`, and for a fractional number that would be rounded to a whole one.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable();
  }
  refuseAmbiguity(text);
  return value;
}

export function unreadable(): DomainError {
  return new DomainError('body_malformed', 'The body could not be read. Check its syntax.');
}

function refuseAmbiguity(text: string): void {
  // For each object or list around this position: the names in the object so far; null for a list.
  const around: (Set<string> | null)[] = [];
  let isNameNext = false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') around.push(new Set());
    else if (token === '[') around.push(null);
    else if (token === '}' || token === ']') around.pop();
    else if (token.startsWith('"') && isNameNext) addName(around.at(-1) ?? null, JSON.parse(token) as string);
    else if (NUMBER.test(token)) refuseNearlyWhole(token);
    isNameNext = token === '{' || (token === ',' && around.at(-1) !== null);
  }
}

function addName(names: Set<string> | null, name: string): void {
  if (name === '__proto__') throw new DomainError('body_malformed', 'A field cannot have the name __proto__.');
  if (names?.has(name) === true) {
    throw new DomainError('body_malformed', 'An object has the same name twice. Send each field once.');
  }
  names?.add(name);
}

// 5000.0 and 50e2 are whole numbers and are accepted; 5000.0000000000000000001 would lose its last digit.
function refuseNearlyWhole(token: string): void {
  if (!Number.isInteger(Number(token))) return;
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(token) ?? [];
  const digits = (whole + fraction).replace(/0+$/, '');
  const placesAfterPoint = digits.length - whole.length - Number(exponent);
  if (digits === '' || placesAfterPoint <= 0) return;
  throw new DomainError('body_malformed', 'A number has more digits than can be kept. Amounts are whole numbers.');
}
