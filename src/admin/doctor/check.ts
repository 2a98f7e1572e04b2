// What a check of the doctor is: one look at a deployment that changes nothing, with the remedy of what it finds.
import type { Clocks } from '../../domain/clocks.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { loadUsableSettings } from '../../settings/config.ts';
import type { Database } from '../../db/platform/database.ts';
import type { ServiceFigures } from '../../operations/read-service-figures.ts';
import type { TemporalLook } from '../../temporal/inspection.ts';

export type Subject = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The settings that can be used, each by itself. */
  readonly settings: ReturnType<typeof loadUsableSettings>;
  readonly clocks: Clocks;
  /** The operators with an account, as far as the database could be read. */
  readonly operators: readonly OperatorId[];
};

/** What is wrong, in one line; a note is for people to know, and no fault of the deployment. */
export type Finding = string | { readonly note: string };

type Look =
  | { readonly on: 'settings'; find(subject: Subject): Promise<readonly Finding[]> }
  | { readonly on: 'database'; find(db: Database, subject: Subject): Promise<readonly Finding[]> }
  | { readonly on: 'figures'; find(figures: ServiceFigures, subject: Subject): readonly Finding[] }
  | { readonly on: 'Temporal'; find(temporal: TemporalLook, subject: Subject): Promise<readonly Finding[]> };

export type Check = Look & {
  readonly name: string;
  /** What it looks at, and from when on it is wrong. */
  readonly looksAt: string;
  readonly remedy: string;
};

/** The database or Temporal cannot be reached at all: what is looked at there is left out. */
export const REACHED: Readonly<Record<'database' | 'Temporal', Pick<Check, 'name' | 'looksAt' | 'remedy'>>> = {
  database: {
    name: 'database',
    looksAt: 'PostgreSQL 15 or newer answers at MALIPO_DATABASE_URL, and accepts the account',
    remedy: 'Start PostgreSQL, or correct the address; `npm run accounts` makes the account.',
  },
  Temporal: {
    name: 'Temporal',
    looksAt: 'Temporal answers at MALIPO_TEMPORAL_ADDRESS within 5 s',
    remedy: 'Start Temporal, or correct the address, MALIPO_TEMPORAL_TLS… and MALIPO_TEMPORAL_API_KEY.',
  },
};

/** “3 days”, “5 min”, “20 s”. */
export function ageText(ms: number): string {
  if (ms >= 2 * 86_400_000) return `${Math.floor(ms / 86_400_000)} days`;
  if (ms >= 2 * 3_600_000) return `${Math.floor(ms / 3_600_000)} h`;
  if (ms >= 120_000) return `${Math.floor(ms / 60_000)} min`;
  return `${Math.floor(ms / 1000)} s`;
}
