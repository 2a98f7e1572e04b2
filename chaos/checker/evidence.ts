// The evidence that the checker judges by: what each side wrote down for itself, read from files.
import { readFileSync } from 'node:fs';

/** Written by the campaign; everything else the checker reads for itself. */
export type Evidence = {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  /** The requests of the campaign with their responses. */
  readonly journalFile: string;
  /** What the receiver received. */
  readonly receiverFile: string;
  /** The sandbox operator's own journal. */
  readonly operatorFile: string;
  /** Every end of a process that the campaign keeps running. */
  readonly processFile: string;
  readonly endpoints: readonly Endpoint[];
};

export type Endpoint = {
  readonly id: string;
  readonly merchantId: string;
  /** Of the address at the receiver. */
  readonly path: string;
  readonly secret: string;
};

export const ACTIONS = ['collection', 'payout', 'release', 'release_many', 'reject', 'cancel', 'reversal'] as const;
type Action = (typeof ACTIONS)[number];

/** A request that was about to be made. Its attempts have the same number, which `JournalResult` refers to. */
export type JournalRequest = {
  readonly type: 'request';
  readonly number: number;
  readonly atMs: number;
  readonly action: Action;
  readonly merchantId: string;
  /** The person in whose session it is made; null: with an API key. */
  readonly userId: string | null;
  readonly key: string | null;
  /** The payments that it is about; none for one that creates a payment. */
  readonly subjects: readonly string[];
  readonly body: string;
};

/** What became of one attempt; `status` is null when no whole response came. */
export type JournalResult = {
  readonly type: 'result';
  readonly number: number;
  readonly atMs: number;
  readonly status: number | null;
  readonly body: string;
};

/** A request with all that its attempts led to. */
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

/** One payment as the operator knows it, in the words of its journal. */
export type OperatorPayment = {
  readonly kind: 'collection' | 'payout' | 'refund';
  readonly operatorReference: string;
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
  readonly atMs: number;
  readonly reason: string;
  /** Whether it had been ready: a start that fails while an engine is away is tried again. */
  readonly wasReady: boolean;
};

export function readProcessEnds({ processFile }: Pick<Evidence, 'processFile'>): ProcessEnd[] {
  return readLines(processFile) as ProcessEnd[];
}

/** A last line that a kill truncated is not there: whoever wrote it had not gone on. */
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
