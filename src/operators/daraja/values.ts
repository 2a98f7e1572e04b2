// Reads the values in Daraja's responses and messages, whatever their type: each is read whole, or not at all.

/** A long number is no code, because its digits could be a person's phone. */
const CODE = /^(?!.*\d{7})[A-Za-z0-9_.]{1,20}$/;
const ISSUED_ID = /^[\w.-]{1,100}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const RECEIPT = /^[0-9A-Z]{8,16}$/;
/** The placeholder of a transaction without a receipt. */
const NO_RECEIPT = /0{7}$/;
const DECIMAL = /^0*(\d{1,16})(?:\.(\d{1,6}?)0*)?$/;
/** A phone, alone or before a name. Shortcodes are shorter, and a masked phone does not match. */
const PHONE = /^\+?(254\d{9})(?!\d)/;
/** A phone with the country code, with a leading zero, or with neither; some digits may be hidden. */
const LISTED_PHONE = /^\+?(?:254|0)?([\d*x]{9})$/i;
/** A digest of the phone. */
const HIDDEN_PHONE = /^[0-9a-f]{64}$/i;
const WORD = /^[A-Za-z]{1,30}$/;

/** Daraja sends codes as texts or as numbers. */
export function codeIn(value: unknown): string | null {
  return matching(value, CODE);
}

/** An id that Daraja issued. */
export function issuedIdIn(value: unknown): string | null {
  return typeof value === 'string' ? matching(value, ISSUED_ID) : null;
}

/** A reference of ours. */
export function referenceIn(value: unknown): string | null {
  return typeof value === 'string' ? matching(value.toLowerCase(), UUID) : null;
}

export function receiptIn(value: unknown): string | null {
  const receipt = typeof value === 'string' ? matching(value.toUpperCase(), RECEIPT) : null;
  return receipt === null || NO_RECEIPT.test(receipt) ? null : receipt;
}

/** A decimal string without superfluous zeros. */
export function amountIn(value: unknown): string | null {
  const [, whole, fraction = ''] = DECIMAL.exec(textIn(value) ?? '') ?? [];
  if (whole === undefined) return null;
  return /^0*$/.test(fraction) ? whole : `${whole}.${fraction}`;
}

export function phoneIn(value: unknown): string | null {
  return PHONE.exec(textIn(value) ?? '')?.[1] ?? null;
}

/** A payer's phone with `*` for each hidden digit, or `hidden` if all digits are hidden. */
export function listedPhoneIn(value: unknown): string | null {
  const text = (textIn(value) ?? '').replace(/\s/g, '');
  if (HIDDEN_PHONE.test(text)) return 'hidden';
  const digits = LISTED_PHONE.exec(text)?.[1];
  return digits === undefined ? null : `254${digits.replace(/x/gi, '*')}`;
}

export function wordIn(value: unknown): string | null {
  return typeof value === 'string' ? matching(value, WORD) : null;
}

function matching(value: unknown, form: RegExp): string | null {
  const text = textIn(value);
  return text !== null && form.test(text) ? text : null;
}

function textIn(value: unknown): string | null {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' ? String(value) : null;
}

/** Values by name. Daraja spells names with and without spaces, and may repeat them. */
export type NamedValues = ReadonlyMap<string, readonly unknown[]>;

/** The pairs of a list, which may be a single pair, or missing. Pairs without a value are left out. */
export function namedValues(list: unknown, key: 'Name' | 'Key'): NamedValues {
  const found = new Map<string, unknown[]>();
  for (const pair of Array.isArray(list) ? (list as readonly unknown[]) : [list]) {
    if (typeof pair !== 'object' || pair === null) continue;
    const { [key]: name, Value: value } = pair as Readonly<Record<string, unknown>>;
    if (typeof name !== 'string' || value === undefined || value === null || value === '') continue;
    const plain = name.replace(/\s+/g, '').toLowerCase();
    found.set(plain, [...(found.get(plain) ?? []), value]);
  }
  return found;
}

/** The value of this name. Undefined if there is none. Null if the value cannot be read, or two values differ. */
export function valueOf(
  values: NamedValues,
  name: string,
  read: (value: unknown) => string | null,
): string | null | undefined {
  const given = new Set((values.get(name) ?? []).map(read));
  const [first] = given;
  return given.size > 1 ? null : first;
}
