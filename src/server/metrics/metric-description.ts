// The description of a metric, for the scrape, the page of metrics, and the tests of closed label sets.

export type MetricDescription = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Each label with all its possible values. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
};

/** The label value for everything outside the closed set. */
export const OTHER = 'other';
