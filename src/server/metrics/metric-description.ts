// What is said of a metric wherever it is shown: the scrape, the page of metrics, and the tests that hold labels to closed sets.

export type MetricDescription = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Each label with all values that it may have. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
};

/** What a label has in the place of a value that is not among its own. */
export const OTHER = 'other';
