// Whether an operator may be called now: by this second's grants, which all processes share, and by the breaker of its product.
import type { RecordedBreaker } from '../src/db/work/breakers.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import { kindsOf, productOf, PRODUCTS } from '../src/domain/payments/breaker.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { PaymentKind } from '../src/domain/payments/payment.ts';
import { createBreakerLine, type BreakerLine, type CallPermit } from './breaker-line.ts';
import { createCallGrants, type CallGrantsOptions, type CallUse } from './call-grants.ts';

export type { CallPermit };

/** The operator is not called for any payment; a process may ask for a permit again after `waitMs`. */
export type OperatorAway = { readonly kind: 'away'; readonly waitMs: number; readonly breaker: RecordedBreaker };

/** `none`: no grant is free in time, or the database is unavailable. */
export type Permission = CallPermit | OperatorAway | { readonly kind: 'none' };

type Call = {
  readonly kind: PaymentKind;
  readonly use: Exclude<CallUse, 'scheduled_query'>;
  readonly waitMs: number;
};

/** How many queries may be made now, about these kinds of payments. */
export type QueryPermits = {
  readonly count: number;
  readonly kinds: readonly PaymentKind[];
  permitOf(kind: PaymentKind): CallPermit;
  /** To be called after the last permit was taken. */
  end(): Promise<void>;
};

/** The kinds of payments that are not queried now, because a breaker is not closed. */
export type Held = { readonly kinds: readonly PaymentKind[]; readonly waitMs: number };

export type OperatorCalls = {
  permit(operator: OperatorId, call: Call): Promise<Permission>;
  /** Permits at once up to `wanted` queries by schedule, in groups that are claimed apart. */
  permitQueries(
    operator: OperatorId,
    wanted: number,
  ): Promise<{ readonly groups: readonly QueryPermits[]; readonly held: readonly Held[] }>;
};

export type OperatorCallsOptions = Omit<CallGrantsOptions, 'onBreakers'> & {
  readonly clocks: Pick<Clocks, 'operatorTimeoutMs' | 'breakerPausesMs'>;
};

/** How long a call waits for its permit: less than a workflow task may take. */
export const LONGEST_GRANT_WAIT_MS = 1000;
/** How long a further call of one query waits for its grant: the list that needs it answers for many payments. */
const FURTHER_CALL_WAIT_MS = 10_000;
/** Calls without a permit are retried at random moments within this time, which grows if more calls wait than the operator takes. */
const SPREAD_MS = 1000;
/** The shortest time by which a query is postponed. */
const SHORTEST_WAIT_MS = 250;
/** How long a call without a permit counts as waiting. */
const COUNTED_FOR_MS = 30_000;

type Line = BreakerLine & {
  readonly operator: OperatorId;
  readonly kinds: readonly PaymentKind[];
  readonly turnedAway: { count: number; sinceMs: number };
};

/**
 * While all breakers are closed they cost no statement: the statement that takes grants reads which breakers are open, and the results of
 * calls are counted in memory. While a breaker is not closed a process reads it once a second at most, and takes no grants for it.
 */
export function createOperatorCalls(options: OperatorCallsOptions): OperatorCalls {
  const { operators, perSecond, nowMs = () => performance.now() } = options;
  const lines = new Map(operators.map((operator) => [operator, linesOf(operator, { ...options, nowMs })] as const));
  const grants = createCallGrants({
    ...options,
    onBreakers(operator, breakers, asOfMs) {
      for (const [product, line] of lines.get(operator) ?? [])
        line.learn(breakers.find((breaker) => breaker.product === product) ?? null, asOfMs);
    },
  });

  // A probe is one call: until its answer came nobody makes another one.
  function withFurther(line: Line, permit: ReturnType<Line['permit']>): CallPermit {
    const mayCallAgain = async () =>
      line.known() === null && (await grants.take(line.operator, 'callback_query', FURTHER_CALL_WAIT_MS));
    return { ...permit, mayCallAgain };
  }

  function turnedAway(line: Line): Permission {
    const breaker = line.known();
    if (breaker === null) return { kind: 'none' };
    const { turnedAway: counted } = line;
    if (nowMs() - counted.sinceMs > COUNTED_FOR_MS) Object.assign(counted, { count: 0, sinceMs: nowMs() });
    counted.count += 1;
    const spreadMs = SPREAD_MS * (1 + counted.count / perSecond(line.operator));
    return { kind: 'away', waitMs: Math.ceil(line.restMs() + Math.random() * spreadMs), breaker };
  }

  return {
    async permit(operator, { kind, use, waitMs }) {
      const line = lines.get(operator)?.get(productOf(kind));
      // A person who runs this activity by hand may name anything.
      if (line === undefined) return { kind: 'none' };
      const probe = await line.probe();
      if (probe === 'away') return turnedAway(line);
      if (!(await grants.take(operator, use, waitMs))) {
        await probe?.end();
        return turnedAway(line);
      }
      if (probe !== null) return withFurther(line, probe);
      return line.known() === null ? withFurther(line, line.permit()) : turnedAway(line);
    },

    async permitQueries(operator, wanted) {
      const all = [...(lines.get(operator)?.values() ?? [])];
      const groups: QueryPermits[] = [];
      for (const line of all) {
        const probe = await line.probe();
        if (probe === null || probe === 'away') continue;
        if ((await grants.takeForQueries(operator, 1)) === 0) await probe.end();
        else {
          const permit = withFurther(line, probe);
          groups.push({ count: 1, kinds: line.kinds, permitOf: () => permit, end: () => probe.end() });
        }
      }
      const isAnyClosed = all.some((line) => line.known() === null);
      const count = isAnyClosed ? await grants.takeForQueries(operator, wanted) : 0;
      const closed = all.filter((line) => line.known() === null);
      if (count > 0 && closed.length > 0) groups.push(groupOf(closed, count, withFurther));
      const isProbed = (line: Line) => groups.some(({ kinds }) => kinds === line.kinds);
      const held = all
        .filter((line) => line.known() !== null && !isProbed(line))
        .map((line) => ({ kinds: line.kinds, waitMs: Math.max(SHORTEST_WAIT_MS, line.restMs()) }));
      return { groups, held };
    },
  };
}

function linesOf(operator: OperatorId, options: OperatorCallsOptions & { readonly nowMs: () => number }) {
  return new Map(
    PRODUCTS.map((product) => {
      const turnedAway = { count: 0, sinceMs: -Infinity };
      const line: Line = {
        ...createBreakerLine({ ...options, operator, product }),
        operator,
        kinds: kindsOf([product]),
        turnedAway,
      };
      return [product, line] as const;
    }),
  );
}

function groupOf(
  lines: readonly Line[],
  count: number,
  withFurther: (line: Line, permit: ReturnType<Line['permit']>) => CallPermit,
): QueryPermits {
  return {
    count,
    kinds: lines.flatMap(({ kinds }) => kinds),
    permitOf(kind) {
      const line = lines.find(({ kinds }) => kinds.includes(kind));
      if (line === undefined) throw new Error(`no ${kind} is asked about now`);
      return withFurther(line, line.permit());
    },
    end: () => Promise.resolve(),
  };
}
