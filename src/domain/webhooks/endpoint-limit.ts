// How many attempts may run to one endpoint at once: a limit that follows the observed capacity of the endpoint.
import { isSuccess, type Attempt, type AttemptResult } from './delivery.ts';

export type EndpointLimit = {
  /** How many attempts may be in flight at once. */
  readonly count: number;
  /** The smallest median of a round: the duration of an attempt that waits for no other; null: no round is complete. */
  readonly smallestMs: number | null;
  /** The durations of the accepted attempts of this round. */
  readonly roundMs: readonly number[];
  /** The same durations, each without the longest delay of our own process. */
  readonly netRoundMs: readonly number[];
  /** Whether at least half of the limit was in use at an attempt of this round. */
  readonly isUsed: boolean;
  /** How often the limit has fallen. */
  readonly falls: number;
};

export type EndedAttempt = {
  readonly attempt: Attempt;
  /** The limit's `falls` when the attempt began. */
  readonly fallsBefore: number;
  /** How many attempts were in flight at its end, itself included. */
  readonly inFlight: number;
  /** The longest delay of callbacks in our own process while the attempt was in flight. */
  readonly ownDelayMs: number;
};

/** Every endpoint begins with this many attempts at once. A slow or refusing endpoint keeps at least the least. */
export const STARTING_COUNT = 32;
export const LEAST_COUNT = 4;

const FALL = 0.5;
/** The growth per round of a limit that has never fallen. */
const EARLY_GROWTH = 1.5;
/** An attempt is slow beyond this multiple of the smallest and this difference. Less may be noise. */
const SLOW_FACTOR = 2;
const SLOW_BY_MS = 100;
const NEW_ROUND = { roundMs: [], netRoundMs: [], isUsed: false } as const;

/** The limit of an endpoint without history. `most`: the upper bound of every limit. */
export function startingLimit(most: number): EndpointLimit {
  return { count: Math.min(STARTING_COUNT, most), smallestMs: null, ...NEW_ROUND, falls: 0 };
}

/**
 * The limit after an attempt: additive increase and multiplicative decrease, as in the congestion avoidance of TCP (V. Jacobson,
 * “Congestion Avoidance and Control”, 1988; RFC 5681). As many accepted attempts as the limit are a round.
 *
 * - It grows at the end of a round in which it was used: by half until it first falls, as the slow start of TCP does, and by one
 *   from then on.
 * - It falls to the half when an attempt had no response or was answered 429 or 503; of the attempts that were in flight then, none
 *   changes it any more, so that one overload counts once.
 * - It falls to the half, too, at the end of a round in which it was used and whose median is well above the smallest median of
 *   all rounds: then attempts wait for each other at the receiver. The comparison with the smallest is that of TCP Vegas (Brakmo and
 *   Peterson, 1995), of Netflix's concurrency-limits (VegasLimit, GradientLimit) and of Envoy's adaptive concurrency filter. Envoy
 *   measures the smallest again from time to time with few requests in flight; here that happens when the limit is the least and
 *   rounds are still slow, since then it is not our attempts that make them so. What our own process was late by does not count
 *   as slow: a process that has no CPU would take it for an overload of every endpoint.
 */
export function afterAttempt(limit: EndpointLimit, ended: EndedAttempt, most: number): EndpointLimit {
  if (ended.fallsBefore !== limit.falls) return limit;
  const { result, durationMs } = ended.attempt;
  if (isOverload(result)) return fallen(limit, most);
  // Such a result says nothing about the capacity of the endpoint.
  if (!isSuccess(result)) return limit;
  const isUsed = limit.isUsed || ended.inFlight * 2 >= limit.count;
  const roundMs = [...limit.roundMs, durationMs];
  const netRoundMs = [...limit.netRoundMs, Math.max(0, durationMs - ended.ownDelayMs)];
  const round = { ...limit, isUsed, roundMs, netRoundMs };
  return roundMs.length < limit.count ? round : afterRound(round, most);
}

function afterRound(limit: EndpointLimit, most: number): EndpointLimit {
  const medianMs = medianOf(limit.roundMs);
  // The smallest includes our own delay: a receiver must not seem slower only because our process was faster.
  const smallestMs = Math.min(limit.smallestMs ?? Infinity, medianMs);
  const next = { ...limit, smallestMs, ...NEW_ROUND };
  if (!limit.isUsed) return next;
  const grown = limit.falls === 0 ? Math.ceil(limit.count * EARLY_GROWTH) : limit.count + 1;
  if (!isSlow(medianOf(limit.netRoundMs), smallestMs)) return { ...next, count: Math.min(most, grown) };
  if (limit.count <= leastOf(most)) return { ...next, smallestMs: medianMs };
  return fallen(next, most);
}

function fallen(limit: EndpointLimit, most: number): EndpointLimit {
  const count = Math.max(leastOf(most), Math.floor(limit.count * FALL));
  return { ...limit, count, ...NEW_ROUND, falls: limit.falls + 1 };
}

const leastOf = (most: number): number => Math.min(LEAST_COUNT, most);

function isSlow(medianMs: number, smallestMs: number): boolean {
  return medianMs > SLOW_FACTOR * smallestMs && medianMs > smallestMs + SLOW_BY_MS;
}

function isOverload(result: AttemptResult): boolean {
  return result.kind === 'no_answer' || result.statusCode === 429 || result.statusCode === 503;
}

/** The lower of the two middle values if there are an even number. */
function medianOf(durationsMs: readonly number[]): number {
  const sorted = [...durationsMs].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? 0;
}
