// Time zones, and the instants that their clocks show. Node's data decide both: the names that a PostgreSQL server
// knows, old ones and links among them, depend on its own data.

const DAY_MS = 86_400_000;

const NAME = /^[A-Z][A-Za-z0-9_+/-]{1,40}$/;
// Other names of three letters are abbreviations that several zones share, such as IST, and no IANA names.
const NAMES_OF_THREE = /^(CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$/;

/** Whether the IANA data have this time zone name, now or formerly. */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name) || (name.length === 3 && !NAMES_OF_THREE.test(name))) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The clocks of one time zone. A shown time is written as the milliseconds at which UTC clocks show the same. */
export type Clocks = {
  /** The time that the clocks show at this instant. */
  readonly shownAt: (at: Date) => number;
  /** The first instant at which the clocks show this time. For a skipped time, later by the size of the gap. */
  readonly firstShowing: (shownMs: number) => Date;
};

/** Throws a `RangeError` unless `isTimeZone(timeZone)`. */
export function clocksOf(timeZone: string): Clocks {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const offsetAt = (ms: number): number => offsetMs(format.format(ms));
  return {
    shownAt: (at) => at.getTime() + offsetAt(at.getTime()),
    firstShowing(shownMs) {
      // The clocks change at most once in these two days. Before and after the change they show the time at one instant
      // each: at both if it is shown twice, at neither if it is skipped.
      const instants = [shownMs - DAY_MS, shownMs + DAY_MS].map((ms) => shownMs - offsetAt(ms));
      const [first, last] = [Math.min(...instants), Math.max(...instants)];
      return new Date(first + offsetAt(first) === shownMs ? first : last);
    },
  };
}

// As in `1/31/2026, GMT+05:30`; of UTC itself, `GMT` alone.
function offsetMs(text: string): number {
  const [, sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

export function dateShown(clocks: Clocks, at: Date): string {
  return isoDate(clocks.shownAt(at));
}

/** Consecutive days by the clocks of a time zone, and the instant at which the last one ends. Dates are `YYYY-MM-DD`. */
export type DayRange = {
  readonly days: readonly { readonly date: string; readonly startsAt: Date }[];
  readonly endsAt: Date;
};

export function daysBetween(clocks: Clocks, { from, to }: { readonly from: string; readonly to: string }): DayRange {
  const dayCount = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const days = Array.from({ length: dayCount }, (_, n) => {
    const midnightMs = Date.parse(from) + n * DAY_MS;
    return { date: isoDate(midnightMs), startsAt: clocks.firstShowing(midnightMs) };
  });
  return { days, endsAt: clocks.firstShowing(Date.parse(to) + DAY_MS) };
}

/** Today up to this instant, and the same span of the same weekday one week earlier, by the clocks of the time zone. */
export type Spans = { readonly today: Date; readonly weekAgoFrom: Date; readonly weekAgoTo: Date };

export function spansAt(at: Date, timeZone: string): Spans {
  const clocks = clocksOf(timeZone);
  const shownMs = clocks.shownAt(at);
  const midnightMs = Math.floor(shownMs / DAY_MS) * DAY_MS;
  return {
    today: clocks.firstShowing(midnightMs),
    weekAgoFrom: clocks.firstShowing(midnightMs - 7 * DAY_MS),
    weekAgoTo: clocks.firstShowing(shownMs - 7 * DAY_MS),
  };
}

function isoDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
