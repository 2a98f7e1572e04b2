// The forms of the values of settings, and how each is read.
import { createPrivateKey, createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readAmountChanges, type AmountChange } from '../domain/payments/amount-rules.ts';
import { isMarket } from '../domain/payments/operator-catalogue.ts';
import { readPrefixChanges, type PrefixChange } from '../domain/payments/operator-prefixes.ts';
import { isMobilePrefix } from '../domain/payments/phone.ts';
import { parseWebAddress } from '../domain/web-address.ts';
import type { KeyRing } from '../security/sealing.ts';

/** Text that prints as `***`; `reveal()` returns it. */
export class Secret {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  reveal(): string {
    return this.#text;
  }
  toString(): string {
    return '***';
  }
  toJSON(): string {
    return '***';
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***';
  }
}

export const port = z.coerce.number().int().min(0).max(65535);
export const count = z.coerce.number().int().min(1).max(1_000_000);
export const milliseconds = z.coerce.number().int().min(1).max(31_536_000_000);
export const secret = z
  .string()
  .min(1)
  .transform((text) => new Secret(text));
/** The PIN of a mobile-money wallet. */
export const walletPin = secret.refine((text) => /^[0-9]{4}$/.test(text.reveal()), { error: 'must be four digits' });
/** As PEM. */
export const rsaPrivateKey = secret.refine(isRsaPrivateKey, { error: 'must be a private key of RSA, as PEM' });
export const databaseUrl = z.url({ protocol: /^postgres(ql)?$/ }).transform((text) => new Secret(text));
export const webAddress = z
  .string()
  .refine((text) => parseWebAddress(text) !== null, { error: 'must be an http or https address of a valid host' });
/** The content of the named file, which may be a private key. */
export const file = z.string().transform((path, context): Secret => {
  try {
    return new Secret(readFileSync(path, 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    context.addIssue({ code: 'custom', message: `the file ${path} cannot be read (${code})` });
    return z.NEVER;
  }
});
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

function isRsaPrivateKey(pem: Secret): boolean {
  try {
    return createPrivateKey(pem.reveal()).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

// "name:base64 of 32 bytes", comma-separated; the first seals or attests, all open or verify.
export const keyRing = z.string().transform((text, context): KeyRing => {
  const keys = text.split(',').map((entry) => {
    const [name = '', encoded = ''] = entry.trim().split(':');
    return { name, bytes: Buffer.from(encoded, 'base64') };
  });
  const isValid = keys.every(({ name, bytes }) => /^[A-Za-z0-9_-]{1,32}$/.test(name) && bytes.length === 32);
  const areNamesUnique = new Set(keys.map(({ name }) => name)).size === keys.length;
  const [first, ...rest] = keys.map(({ name, bytes }) => ({ name, key: createSecretKey(bytes) }));
  if (isValid && areNamesUnique && first) return [first, ...rest];
  context.addIssue({
    code: 'custom',
    message: 'must be name:base64 of 32 bytes, comma-separated, each name once',
  });
  return z.NEVER;
});

/** The changes of a deployment to the prefixes of operators. */
export const operatorPrefixes = z.string().transform((text, context): readonly PrefixChange[] => {
  const changes = readPrefixChanges(text);
  const problem = changes ? problemOf(changes) : PREFIX_FORM;
  if (changes && problem === null) return changes;
  context.addIssue({ code: 'custom', message: problem ?? PREFIX_FORM });
  return z.NEVER;
});

const PREFIX_FORM =
  'must be operator/COUNTRY=prefixes or operator/COUNTRY+=prefixes, comma-separated, each market once';

const NO_MARKET = 'names an unknown operator, or a country or currency in which the operator has no market';

function problemOf(changes: readonly PrefixChange[]): string | null {
  if (!changes.every(({ operator, country }) => isMarket(operator, country))) return NO_MARKET;
  const unknown = changes.flatMap(({ country, prefixes }) =>
    prefixes.filter((prefix) => !isMobilePrefix(country, prefix)).map((prefix) => `${country} ${prefix}`),
  );
  return unknown.length === 0
    ? null
    : `names prefixes of no mobile number that this version knows (${unknown.join(', ')})`;
}

/** The amounts that operators accept by the contracts of a deployment. */
export const operatorAmounts = z.string().transform((text, context): readonly AmountChange[] => {
  const changes = readAmountChanges(text);
  if (changes?.every(({ operator, country, currency }) => isMarket(operator, country, currency)) === true)
    return changes;
  context.addIssue({ code: 'custom', message: changes ? NO_MARKET : AMOUNT_FORM });
  return z.NEVER;
});

const AMOUNT_FORM =
  'must be operator/COUNTRY/CURRENCY/collection=least-most/step or the same with payout, comma-separated, each once, least and most ' +
  'multiples of the step';
