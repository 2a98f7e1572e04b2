// Every metric that a server shows, but those of Node.js itself, whose library describes them.
import { routeNames } from '../../api/middleware/measure.ts';
import type { Route } from '../../api/route.ts';
import type { MetricDescription } from './metric-description.ts';
import { processMetricsOf } from './process-metrics.ts';
import { READ_METRICS } from './read-metrics.ts';
import { SDK_METRICS } from './sdk-metric-names.ts';

export type MetricCatalogue = {
  /** What a process counts by itself: each process has its own part. */
  readonly ofProcess: readonly MetricDescription[];
  /** What is read from the database: the same in each process. */
  readonly ofService: readonly MetricDescription[];
  /** What the Temporal SDK measures in a process. */
  readonly ofSdk: readonly MetricDescription[];
};

export function metricCatalogue(routes: readonly Pick<Route, 'path'>[]): MetricCatalogue {
  return {
    ofProcess: Object.values(processMetricsOf(routeNames(routes))),
    ofService: READ_METRICS,
    ofSdk: SDK_METRICS,
  };
}
