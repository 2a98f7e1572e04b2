// The common definitions of the figures of the whole service, for writers and readers.

/** The bounds of the counted durations of payments. Earlier counts keep their earlier bounds. */
export const DURATION_BOUNDS_SECONDS: readonly number[] = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400,
];

/** Counts of rows stop at this number, so that their cost is bounded. */
export const COUNTED_UP_TO = 10_000;
