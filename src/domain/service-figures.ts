// What the figures of the whole service have in common, whoever writes or reads them.

/** The bounds by which the durations of payments are counted. Those of before stay as they were counted. */
export const DURATION_BOUNDS_SECONDS: readonly number[] = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 21_600, 86_400,
];

/** What is counted row by row is counted up to so many, so that a count costs the same however much has piled up. */
export const COUNTED_UP_TO = 10_000;
