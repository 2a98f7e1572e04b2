// The settings of durations: each has its name, its form, and a least value in the live environment.
import {
  CLOCK_NAMES,
  DEMO_CLOCKS,
  LEAST_LIVE_CLOCKS,
  leastClockMs,
  mostClockMs,
  REAL_CLOCKS,
  type ClockName,
  type Clocks,
} from '../domain/clocks.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The setting of a duration: `promptWindowMs` is `MALIPO_PROMPT_WINDOW_MS`. */
export function clockSetting(name: ClockName): string {
  return `MALIPO_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** The durations from the settings, or those of `MALIPO_CLOCKS`. Adds a line to the problems for each fault. */
export function loadClocks(environment: Environment, problems: string[]): Clocks {
  const base: Clocks = environment['MALIPO_CLOCKS'] === 'demo' ? DEMO_CLOCKS : REAL_CLOCKS;
  const entries = CLOCK_NAMES.map((name) => {
    const value: number | readonly number[] = base[name];
    const setting = clockSetting(name);
    const text = environment[setting];
    if (text === undefined) return [name, value];
    const [leastMs, mostMs] = [leastClockMs(name), mostClockMs(name)];
    const isSchedule = typeof value !== 'number';
    const numbers = text.split(',').map(Number);
    // Only the first attempt of a delivery has no wait: it does not repeat.
    const repeated = name === 'deliveryScheduleMs' && numbers[0] === 0 ? numbers.slice(1) : numbers;
    const isValid =
      numbers.every((number) => Number.isSafeInteger(number) && number <= mostMs) &&
      repeated.every((number) => number >= leastMs) &&
      (isSchedule || numbers.length === 1);
    const form = isSchedule ? 'milliseconds, comma-separated' : 'milliseconds';
    if (!isValid) problems.push(`${setting}: must be ${form}, from ${leastMs} to ${mostMs}`);
    return [name, isSchedule ? numbers : numbers[0]];
  });
  const clocks = Object.fromEntries(entries) as Clocks;
  if (clocks.notFoundGraceMs <= clocks.operatorTimeoutMs) {
    // Otherwise a payment could expire while the operator may still accept it.
    problems.push('MALIPO_NOT_FOUND_GRACE_MS: must be longer than MALIPO_OPERATOR_TIMEOUT_MS');
  }
  if (environment['MALIPO_ENVIRONMENT'] === 'live') problems.push(...findShortLiveClocks(environment, clocks));
  return clocks;
}

function findShortLiveClocks(environment: Environment, clocks: Clocks): string[] {
  return (Object.keys(LEAST_LIVE_CLOCKS) as (keyof typeof LEAST_LIVE_CLOCKS)[])
    .filter((name) => environment[clockSetting(name)] !== undefined)
    .filter((name) => ([clocks[name]].flat().at(-1) ?? 0) < LEAST_LIVE_CLOCKS[name].ms)
    .map((name) => {
      const { ms, because } = LEAST_LIVE_CLOCKS[name];
      return `${clockSetting(name)}: must be ${ms} or more in the live environment: ${because}`;
    });
}
