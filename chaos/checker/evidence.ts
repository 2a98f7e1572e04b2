// The evidence for the checker: the records of each side, read from files.
import { readFileSync } from 'node:fs';

/** Written by the campaign; the checker reads everything else itself. */
export type Evidence = {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly journalFile: string;
  readonly receiverFile: string;
  /** The sandbox operator's own journal. */
  readonly operatorFile: string;
  /** Every end of a process that the campaign keeps running. */
  readonly processFile: string;
  /** The broken parts with their times, and every signal that the campaign sent to a process. */
  readonly faultFile: string;
  readonly endpoints: readonly Endpoint[];
};

export type Endpoint = {
  readonly id: string;
  readonly merchantId: string;
  readonly path: string;
  readonly secret: string;
};

type Action = 'collection' | 'payout' | 'release' | 'release_many' | 'reject' | 'cancel' | 'reversal';

/** A request before it is made. Its attempts have the same number, to which `JournalResult` refers. */
export type JournalRequest = {
  readonly type: 'request';
  readonly number: number;
  readonly atMs: number;
  readonly action: Action;
  readonly merchantId: string;
  /** The person in whose session it is made; null: with an API key. */
  readonly userId: string | null;
  readonly key: string | null;
  /** The payments that it concerns; none for one that creates a payment. */
  readonly subjects: readonly string[];
  readonly body: string;
};

/** The result of one attempt; `status` is null without a complete response. */
export type JournalResult = {
  readonly type: 'result';
  readonly number: number;
  readonly atMs: number;
  readonly status: number | null;
  readonly body: string;
};

export type Request = JournalRequest & { readonly results: readonly JournalResult[] };

export function readRequests({ journalFile }: Pick<Evidence, 'journalFile'>): Request[] {
  const requests = new Map<number, JournalRequest & { results: JournalResult[] }>();
  for (const line of readLines(journalFile) as (JournalRequest | JournalResult)[]) {
    if (line.type === 'request') requests.set(line.number, { ...line, results: [] });
    else requests.get(line.number)?.results.push(line);
  }
  return [...requests.values()];
}

export type Received = {
  readonly atMs: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bytes, in base64. */
  readonly body: string;
  readonly status: number | null;
};

export function readReceived({ receiverFile }: Pick<Evidence, 'receiverFile'>): Received[] {
  return readLines(receiverFile) as Received[];
}

/** One payment as the operator's journal describes it. */
export type OperatorPayment = {
  readonly kind: 'collection' | 'payout' | 'refund';
  readonly wire: string;
  readonly operatorReference: string;
  /** The further reference that we gave. */
  readonly externalId: string | null;
  readonly originalReference: string | null;
  readonly phone: string;
  readonly amount: string;
  readonly currency: string;
  readonly row: string;
  readonly state: 'NOT_ACCEPTED' | 'PENDING' | 'SUCCESSFUL' | 'FAILED';
  readonly reason: { readonly code: string } | null;
  readonly financialTransactionId: string;
  readonly receivedAtMs: number;
  readonly decidedAtMs: number | null;
  readonly givenBackAtMs: number | null;
  readonly promptsRaised: number;
  readonly transfersTaken: number;
};

/** By the operator's reference; the last line of a payment counts. */
export function readOperator({ operatorFile }: Pick<Evidence, 'operatorFile'>): Map<string, OperatorPayment> {
  const payments = new Map<string, OperatorPayment>();
  for (const line of readLines(operatorFile) as (OperatorPayment | { operatorReference?: undefined })[]) {
    if (line.operatorReference !== undefined) payments.set(line.operatorReference, line);
  }
  return payments;
}

export type ProcessEnd = {
  readonly name: string;
  readonly pid: number | null;
  readonly atMs: number;
  readonly reason: string;
  /** Whether it had been ready: a start that fails while an engine is unavailable is repeated. */
  readonly wasReady: boolean;
};

export function readProcessEnds({ processFile }: Pick<Evidence, 'processFile'>): ProcessEnd[] {
  return readLines(processFile) as ProcessEnd[];
}

export type BrokenPart = 'server' | 'temporal' | 'postgres' | 'operator' | 'receiver';

/** A fault began; `fault` counts from 1. */
type FaultBegun = {
  readonly type: 'begun';
  readonly fault: number;
  readonly kind: string;
  readonly hits: BrokenPart;
  readonly atMs: number;
};
type FaultHealed = { readonly type: 'healed'; readonly fault: number; readonly atMs: number };
/** A signal that ends a process, recorded before it is sent. */
export type SentSignal = {
  readonly type: 'signal';
  readonly pid: number;
  readonly signal: string;
  readonly atMs: number;
};

export type FaultLine = FaultBegun | FaultHealed | SentSignal;

/** `healedAtMs` is null while it lasts. */
export type RecordedFault = {
  readonly kind: string;
  readonly hits: BrokenPart;
  readonly begunAtMs: number;
  readonly healedAtMs: number | null;
};

export type Interference = { readonly faults: readonly RecordedFault[]; readonly signals: readonly SentSignal[] };

export function readInterference({ faultFile }: Pick<Evidence, 'faultFile'>): Interference {
  const lines = readLines(faultFile) as FaultLine[];
  const healed = new Map(lines.flatMap((line) => (line.type === 'healed' ? [[line.fault, line.atMs] as const] : [])));
  return {
    faults: lines
      .filter((line) => line.type === 'begun')
      .map(({ fault, kind, hits, atMs }) => ({ kind, hits, begunAtMs: atMs, healedAtMs: healed.get(fault) ?? null })),
    signals: lines.filter((line) => line.type === 'signal'),
  };
}

/** A last line that a kill truncated is missing: its writer had not continued. */
function readLines(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as unknown];
      } catch {
        return [];
      }
    });
}
