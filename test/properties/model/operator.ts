// The operator of the model: what it remembers of one payment, and how it answers sends and queries while faults befall it.
import type { SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import type { Work } from './scheduler.ts';

export type OperatorPlan = {
  /** `once`: each send that arrives is a payment of its own. */
  readonly send: 'idempotent' | 'once';
  /** Whether only a payment that is paid has a status: all that it says of a refund is that it returned the collection. */
  readonly saysOnlyPaid: boolean;
  /** The outcome of a payment that it takes. `expired_then_paid`: it says first that it expired. */
  readonly ending: 'paid' | 'declined' | 'expired' | 'expired_then_paid' | 'undecided';
  readonly decidesAfterMs: number;
  /** For how long its statuses do not know a payment that it has. */
  readonly lagMs: number;
  /** When it answers nothing of use. */
  readonly outages: readonly { readonly fromMs: number; readonly forMs: number }[];
  /** For how long our float covers nothing: what it decides until then fails, and it may refuse each send. */
  readonly floatLowForMs: number;
  /** How likely a request is lost on its way, its response is, an answer says nothing, and a send is refused. */
  readonly rates: Readonly<Record<'requestLost' | 'responseLost' | 'useless' | 'refused', number>>;
  /** How long a request takes to arrive, and its response, at most. */
  readonly networkMs: number;
};

export type ModelOperator = {
  /** One send: it waits for the network, and for the timeout where no answer comes. */
  send(generation: number): Work<SendOutcome>;
  query(generation: number): Work<StatusOutcome>;
  /** How often it pays, or has paid, in the end. */
  payments(): number;
  /** How many sends it took as new ones, and did not fail for our float. */
  taken(): number;
};

type Deps = { readonly nowMs: () => number; readonly random: () => number; readonly timeoutMs: number };

const NO_ANSWER = { kind: 'unknown', reason: 'timed out', cause: 'no_answer' } as const;
const BUSY = { kind: 'unknown', reason: 'http 503', cause: 'busy' } as const;
const USELESS = { kind: 'unknown', reason: 'http 500' } as const;
const NOT_RETURNED = { kind: 'unknown', reason: 'the collection is not returned' } as const;
const REFUSED = { kind: 'refused', code: 'payer_limit_reached', operatorCode: 'PAYER_LIMIT_REACHED' } as const;
/** No operator is in trouble for ever: then nothing could be known of what it has. */
const FAULTS_END_MS = 3 * 24 * 60 * 60_000;
const SAYS_EXPIRED_FOR_MS = 40 * 60_000;
export const RECEIPT = '363440463';

const FLOAT_LOW = { code: 'operator_unavailable', operatorCode: 'NOT_ENOUGH_FUNDS', isFloatLow: true } as const;

/** An operator knows one payment here, by one reference for each of its generations. */
export function createModelOperator(plan: OperatorPlan, { nowMs, random, timeoutMs }: Deps): ModelOperator {
  const accepted: { readonly generation: number; readonly atMs: number }[] = [];
  const { rates } = plan;
  const failsForFloat = ({ atMs }: { readonly atMs: number }) => atMs + plan.decidesAfterMs < plan.floatLowForMs;
  const taken = () => accepted.filter((one) => !failsForFloat(one)).length;
  const happens = (rate: number) => nowMs() < FAULTS_END_MS && random() < rate;
  const isAway = () => plan.outages.some(({ fromMs, forMs }) => nowMs() >= fromMs && nowMs() < fromMs + forMs);

  function receiveSend(generation: number): SendOutcome {
    if (isAway()) return BUSY;
    if (happens(rates.useless)) return USELESS;
    // Also of a payment that it has: what looks at limits first says so before it looks for the reference.
    if (happens(rates.refused)) return REFUSED;
    if (nowMs() < plan.floatLowForMs && random() < 0.5) return { kind: 'refused', ...FLOAT_LOW };
    const isKnown = accepted.some((one) => one.generation === generation);
    const isRepeated = isKnown && plan.send === 'idempotent';
    if (!isRepeated) accepted.push({ generation, atMs: nowMs() });
    return isRepeated ? { kind: 'accepted', isRepeated: true } : { kind: 'accepted' };
  }

  function receiveQuery(generation: number): StatusOutcome {
    if (isAway()) return BUSY;
    if (happens(rates.useless))
      return random() < 0.5 ? USELESS : { kind: 'unreadable', reason: 'status word not known' };
    const status = statusOf(generation);
    return plan.saysOnlyPaid && status.kind !== 'succeeded' ? NOT_RETURNED : status;
  }

  function statusOf(generation: number): StatusOutcome {
    const known = accepted.find((one) => one.generation === generation);
    if (known === undefined || nowMs() < known.atMs + plan.lagMs) return { kind: 'not_found' };
    const decidedAtMs = known.atMs + plan.decidesAfterMs;
    return nowMs() >= decidedAtMs && failsForFloat(known) ? { kind: 'failed', ...FLOAT_LOW } : statusSince(decidedAtMs);
  }

  function statusSince(decidedAtMs: number): StatusOutcome {
    if (nowMs() < decidedAtMs) return { kind: 'pending' };
    const paid = { kind: 'succeeded', receipt: RECEIPT } as const;
    const expired = { kind: 'failed', code: 'prompt_expired', operatorCode: 'EXPIRED' } as const;
    switch (plan.ending) {
      case 'paid':
        return paid;
      case 'expired':
        return expired;
      case 'expired_then_paid':
        return nowMs() < decidedAtMs + SAYS_EXPIRED_FOR_MS ? expired : paid;
      case 'declined':
        return { kind: 'failed', code: 'insufficient_funds', operatorCode: 'NOT_ENOUGH_FUNDS' };
      case 'undecided':
        return { kind: 'pending' };
    }
  }

  function* call<Outcome>(receive: () => Outcome): Work<Outcome | typeof NO_ANSWER> {
    const wayMs = random() * plan.networkMs;
    if (happens(rates.requestLost)) {
      yield timeoutMs;
      return NO_ANSWER;
    }
    yield wayMs;
    const answer = receive();
    const backMs = happens(rates.responseLost) ? timeoutMs : random() * plan.networkMs;
    const restMs = timeoutMs - wayMs;
    yield Math.min(backMs, restMs);
    return backMs < restMs ? answer : NO_ANSWER;
  }

  return {
    send: (generation) => call(() => receiveSend(generation)),
    query: (generation) => call(() => receiveQuery(generation)),
    payments: () => (['paid', 'expired_then_paid'].includes(plan.ending) ? taken() : 0),
    taken,
  };
}
