// Attests rows that say who may do what. An attacker who can write to the database could write such rows by hand.
import type { Environment } from '../domain/event.ts';
import { digestsOf, isMacOf, macOf, type AttestedParts } from './attestation-mac.ts';
import type { KeyRing } from './sealing.ts';

/** A value as the driver returns it. */
export type AttestedValue =
  string | number | bigint | boolean | null | Date | Buffer | readonly string[] | Readonly<Record<string, unknown>>;

export type RowName = { readonly table: string; readonly key: string };

export type RowAttestor = {
  /**
   * Attests the row's values, in the fixed order of its table, with the ring's first key. Its number follows the number
   * of `previous`, the row's present attestation.
   */
  readonly attest: (table: string, values: readonly AttestedValue[], previous: string | null) => string;
  readonly isAttested: (table: string, values: readonly AttestedValue[], attestation: string | null) => boolean;
  /**
   * Digests of a secret of this person, by each key of the ring, the first key's first. Nobody can compute one from the
   * database alone, even for a known secret.
   */
  readonly digestsOfSecret: (purpose: string, userId: string, secret: string) => readonly [Buffer, ...Buffer[]];
  /** Called for each refused row. */
  readonly report: (row: RowName) => void;
};

/** An attestation is valid in one environment and one table only. */
export function createRowAttestor({
  environment,
  keyRing,
  report,
}: {
  readonly environment: Environment;
  readonly keyRing: KeyRing;
  readonly report: (row: RowName) => void;
}): RowAttestor {
  const partsOf = (table: string, number: string, values: readonly AttestedValue[]): AttestedParts => [
    'malipo: row',
    environment,
    table,
    number,
    ...values.map(toJson),
  ];
  return {
    attest: (table, values, previous) => {
      const number = String(numberOf(previous) + 1n);
      return `${number}.${macOf(partsOf(table, number, values), keyRing)}`;
    },
    isAttested: (table, values, attestation) => {
      const [, number, mac] = NUMBERED.exec(attestation ?? '') ?? [];
      return number !== undefined && mac !== undefined && isMacOf(partsOf(table, number, values), mac, keyRing);
    },
    digestsOfSecret: (purpose, userId, secret) =>
      digestsOf(['malipo: secret', environment, purpose, userId, secret], keyRing),
    report,
  };
}

const NUMBERED = /^([1-9][0-9]{0,17})\.([\w-]{43})$/;

function numberOf(attestation: string | null): bigint {
  return BigInt(NUMBERED.exec(attestation ?? '')?.[1] ?? 0);
}

// The columns of a table have fixed types, so equal text means equal values. But JSON has no text for PostgreSQL's
// infinity or for a time beyond JavaScript's range, and writes null.
function toJson(value: AttestedValue): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return Number.isFinite(value) ? value : { not: 'finite' };
  if (value instanceof Date) return toJson(value.getTime());
  return Buffer.isBuffer(value) ? value.toString('base64url') : value;
}
