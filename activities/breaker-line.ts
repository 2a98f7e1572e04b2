// The knowledge of one process about one breaker. The process reports which of its calls had trouble, and the result of its probe.
import type { Database } from '../src/db/platform/database.ts';
import {
  beginProbe,
  endProbe,
  findOpenBreaker,
  openBreaker,
  type RecordedBreaker,
  type Probe,
} from '../src/db/work/breakers.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import { pauseMs, TROUBLES_TO_OPEN, type Product, type Trouble } from '../src/domain/payments/breaker.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { Log } from '../src/log.ts';
import type { NameOutcome, SendOutcome, StatusOutcome } from '../src/operators/port.ts';

/** A permit for one call. Each permit is ended, no matter how the call ended. */
export type CallPermit = OneCallPermit & {
  /** Takes a grant for one more call for the same payment. False: no call is free in time, or the operator is not called now. */
  mayCallAgain(): Promise<boolean>;
};

type OneCallPermit = {
  readonly kind: 'granted';
  /** Reports the outcome of the call to the breaker. Never rejects: the outcome matters more. */
  answered(outcome: SendOutcome | StatusOutcome | NameOutcome): Promise<void>;
  end(): Promise<void>;
};

export type BreakerLine = {
  /** Null if the breaker is closed, as far as the process knows. */
  known(): RecordedBreaker | null;
  /** Takes the breaker as the database had it at `asOfMs` or later; null if it is closed. */
  learn(breaker: RecordedBreaker | null, asOfMs: number): void;
  /** The probe of a breaker that is not closed. `away`: no call may be made now. Null if the breaker is closed. */
  probe(): Promise<OneCallPermit | 'away' | null>;
  /** A permit for a call while the breaker is closed. */
  permit(): OneCallPermit;
  /** How long nobody may call, as far as the process knows. */
  restMs(): number;
};

export type BreakerLineOptions = {
  readonly db: Database;
  readonly operator: OperatorId;
  readonly product: Product;
  readonly clocks: Pick<Clocks, 'operatorTimeoutMs' | 'breakerPausesMs'>;
  readonly log: Log;
  readonly nowMs: () => number;
};

/** Within this time a process learns that a person, or the probe of another process, closed the breaker. */
const KNOWN_FOR_MS = 1000;
/** A probe whose process died counts as lost this long after its timeout. */
const PROBE_MARGIN_MS = 5000;
/** The rest time for a breaker that a person opened: nobody knows when a person closes it. */
const REST_BY_STAFF_MS = 10_000;

export function createBreakerLine(options: BreakerLineOptions): BreakerLine {
  const { db, operator, product, clocks, log, nowMs } = options;
  const memory = createMemory(nowMs);
  const { known, learn } = memory;
  let isAsking = false;

  /** Reads the breaker after the change. Never rejects: null if the database is unavailable. */
  async function tell<Result>(change: () => Promise<Result>): Promise<Result | null> {
    try {
      const asOfMs = nowMs();
      const result = await change();
      learn(await findOpenBreaker(db, operator, product), asOfMs);
      return result;
    } catch (error) {
      log.warn({ error, operator, product }, 'the breaker of an operator could not be read or changed');
      return null;
    }
  }

  function probing({ number, pauses }: Probe): OneCallPermit {
    let isOver = false;
    const end = async (found: Parameters<typeof endProbe>[3]['found']): Promise<void> => {
      if (isOver) return;
      isOver = true;
      const hasChanged = await tell(() => endProbe(db, operator, product, { number, found }));
      if (hasChanged && found === 'answered') log.info({ operator, product }, 'the operator answers again');
    };
    return {
      kind: 'granted',
      answered(outcome) {
        const trouble = troubleIn(outcome);
        return end(trouble ? { ...trouble, pauseMs: pauseMs(clocks.breakerPausesMs, pauses) } : 'answered');
      },
      end: () => end('unused'),
    };
  }

  return {
    known,
    learn,
    restMs: () => memory.restMs(),
    async probe() {
      const breaker = known();
      if (breaker === null) return null;
      if (!memory.isOld() || isAsking) return 'away';
      isAsking = true;
      const leaseMs = clocks.operatorTimeoutMs + PROBE_MARGIN_MS;
      const isLeftToStaff = breaker.retryInMs === null;
      const probe = await tell(async () => (isLeftToStaff ? null : beginProbe(db, operator, product, leaseMs)));
      isAsking = false;
      if (probe !== null) return probing(probe);
      return known() === null ? null : 'away';
    },
    permit() {
      const beganAtMs = nowMs();
      return {
        kind: 'granted',
        async answered(outcome) {
          const trouble = troubleIn(outcome);
          if (!memory.isTooMuch(outcome, beganAtMs) || trouble === null) return;
          const { cause, reason } = trouble;
          const opening = { cause, reason, pauseMs: pauseMs(clocks.breakerPausesMs, 0) };
          if (await tell(() => openBreaker(db, operator, product, opening)))
            log.error({ operator, product, cause, reason }, 'the operator takes no calls: payments wait for it');
        },
        end: () => Promise.resolve(),
      };
    },
  };
}

/** The breaker as the process knows it, and how many of the process's calls in a row had trouble. */
function createMemory(nowMs: () => number) {
  let known: { readonly breaker: RecordedBreaker; readonly seenAtMs: number; readonly againAtMs: number } | null = null;
  // A call that began before a change says nothing about the time after it.
  let changedAtMs = -Infinity;
  let troubles = 0;
  return {
    known: () => known?.breaker ?? null,
    isOld: () => known !== null && nowMs() >= known.againAtMs,

    learn: (breaker: RecordedBreaker | null, asOfMs: number): void => {
      if (asOfMs < changedAtMs) return;
      const seenAtMs = nowMs();
      if ((breaker === null) !== (known === null)) [changedAtMs, troubles] = [seenAtMs, 0];
      const againInMs = Math.max(0, Math.min(KNOWN_FOR_MS, breaker?.retryInMs ?? KNOWN_FOR_MS));
      known = breaker && { breaker, seenAtMs, againAtMs: seenAtMs + againInMs };
    },

    /** Counts the outcome of a call that began while the breaker was closed. */
    isTooMuch(outcome: SendOutcome | StatusOutcome | NameOutcome, beganAtMs: number): boolean {
      if (beganAtMs < changedAtMs || known !== null) return false;
      if (troubleIn(outcome) !== null) troubles += 1;
      // An unusable answer that says nothing about the operator as a whole is neither trouble nor a good sign.
      else if (outcome.kind !== 'unknown') troubles = 0;
      return troubles >= TROUBLES_TO_OPEN;
    },

    restMs(): number {
      if (known === null) return 0;
      const { breaker, seenAtMs } = known;
      if (breaker.retryInMs === null) return REST_BY_STAFF_MS;
      if (breaker.state === 'half_open') return KNOWN_FOR_MS;
      return Math.max(0, breaker.retryInMs - (nowMs() - seenAtMs));
    },
  };
}

type TroubleFound = { readonly cause: Trouble; readonly reason: string };

function troubleIn(outcome: SendOutcome | StatusOutcome | NameOutcome): TroubleFound | null {
  if (outcome.kind !== 'unknown' || outcome.cause === undefined) return null;
  return { cause: outcome.cause, reason: outcome.reason };
}
