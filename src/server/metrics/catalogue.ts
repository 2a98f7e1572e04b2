// Every metric of a server, except those of Node.js itself, which their library describes.
import { routeNames } from '../../api/middleware/measure.ts';
import type { Route } from '../../api/route.ts';
import type { MetricDescription } from './metric-description.ts';
import { processMetricsOf } from './process-metrics.ts';
import { READ_METRICS } from './read-metrics.ts';
import { SDK_METRICS } from './sdk-metric-names.ts';

export type MetricCatalogue = {
  /** Metrics that each process counts for itself. */
  readonly ofProcess: readonly MetricDescription[];
  /** Metrics from the database: the same in each process. */
  readonly ofService: readonly MetricDescription[];
  /** Measurements of the Temporal SDK in a process. */
  readonly ofSdk: readonly MetricDescription[];
};

export function metricCatalogue(routes: readonly Pick<Route, 'path'>[]): MetricCatalogue {
  return {
    ofProcess: Object.values(processMetricsOf(routeNames(routes))),
    ofService: READ_METRICS,
    ofSdk: SDK_METRICS,
  };
}
