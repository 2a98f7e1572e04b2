// The metrics of one server process: its own counts, the database's figures, and the Temporal SDK's measurements.
import { collectDefaultMetrics, Registry, type Metric } from 'prom-client';
import { ROLES, type Role } from '../../settings/config.ts';
import type { Database } from '../../db/platform/database.ts';
import type { ServiceFigures } from '../../operations/read-service-figures.ts';
import type { FiguresReader } from './figures-reader.ts';
import {
  countProcess,
  POOL_NAMES,
  processMetricsOf,
  showGauge,
  showTotal,
  type PoolName,
  type ProcessMetrics,
} from './process-metrics.ts';
import { READ_METRICS, type ReadMetric } from './read-metrics.ts';
import type { SdkMetrics } from './sdk-metrics.ts';

type Watched = {
  /** In which it works now. */
  readonly roles: () => readonly Role[];
  readonly pools: Readonly<Record<PoolName, Database['pool']>>;
  readonly isTemporalConnected: () => boolean;
  readonly figures: FiguresReader;
};

export type ServerMetrics = ProcessMetrics & {
  /** Shows the state of these parts and the figures from the database at each scrape. */
  watch(parts: Watched): void;
  watchApi(counts: Record<'requestsLost' | 'refusals' | 'connectionsRefused', () => number>): void;
  scrape(): Promise<{ readonly text: string; readonly contentType: string }>;
};

export function createServerMetrics(sdk: SdkMetrics): ServerMetrics {
  const registry = new Registry();
  const read = new Registry();
  const known = processMetricsOf([]);
  let figures: FiguresReader | null = null;
  let latest: ServiceFigures | null = null;
  collectDefaultMetrics({ register: registry });
  for (const metric of READ_METRICS) showRead(read, metric, () => latest);

  return {
    ...countProcess(registry),
    watch(parts) {
      figures = parts.figures;
      showGauge(registry, known.role, (gauge) => {
        for (const role of ROLES) gauge.set({ role }, parts.roles().includes(role) ? 1 : 0);
      });
      showGauge(registry, known.readable, (gauge) => {
        gauge.set(latest === null ? 0 : 1);
      });
      showGauge(registry, known.connected, (gauge) => {
        gauge.set(parts.isTemporalConnected() ? 1 : 0);
      });
      watchPools(registry, known, parts);
    },
    watchApi({ requestsLost, refusals, connectionsRefused }) {
      showTotal(registry, known.requestsLost, requestsLost);
      showTotal(registry, known.refusals, refusals);
      showTotal(registry, known.connectionsRefused, connectionsRefused);
    },
    async scrape() {
      latest = (await figures?.read()) ?? null;
      sdk.drain();
      // Unreadable figures are left out: an old value would seem valid.
      const shown = latest === null ? [registry, sdk.registry] : [registry, read, sdk.registry];
      const texts = await Promise.all(shown.map((each) => each.metrics()));
      return { text: texts.join('\n'), contentType: registry.contentType };
    },
  };
}

function watchPools(registry: Registry, known: ReturnType<typeof processMetricsOf>, { pools }: Watched): void {
  showGauge(registry, known.poolSize, (gauge) => {
    for (const pool of POOL_NAMES) gauge.set({ pool }, pools[pool].options.max);
  });
  showGauge(registry, known.poolConnections, (gauge) => {
    for (const pool of POOL_NAMES) {
      const { idleCount, totalCount } = pools[pool];
      gauge.set({ pool, state: 'idle' }, idleCount);
      gauge.set({ pool, state: 'busy' }, totalCount - idleCount);
    }
  });
  showGauge(registry, known.poolWaiting, (gauge) => {
    for (const pool of POOL_NAMES) gauge.set({ pool }, pools[pool].waitingCount);
  });
}

/** The figures are shown unchanged: a counter or histogram of the library would count them again. */
function showRead(registry: Registry, metric: ReadMetric, latest: () => ServiceFigures | null): void {
  const { name, help, type } = metric;
  const shown = {
    name,
    get() {
      const figures = latest();
      const values = figures === null ? [] : metric.read(figures);
      return Promise.resolve({
        name,
        help,
        type,
        aggregator: 'max',
        values: values.map(({ labels, value, suffix = '' }) => ({ labels, value, metricName: name + suffix })),
      });
    },
  };
  registry.registerMetric(shown as unknown as Metric);
}
