// The metrics of the Temporal SDK: taken from its buffer and shown beside our own, so that no second port is open.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BufferedMetricUpdate } from '@temporalio/worker';
import { OTHER, type MetricDescription } from './metric-description.ts';
import { QUEUE_NAMES, SDK_LABELS, SDK_METRICS } from './sdk-metric-names.ts';

/** The measurements of the SDK since the last call. */
type Updates = () => Iterable<BufferedMetricUpdate>;
type Labels = Readonly<Record<string, string>>;
type Instrument = (labels: Labels, value: number) => void;

export type SdkMetrics = {
  readonly registry: Registry;
  /** Takes the measurements of the SDK. Call it before each scrape and often in between: the buffer has a limit. */
  drain(): void;
};

const BUCKETS_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 600, 3600, 86_400];

export function createSdkMetrics(retrieveUpdates: Updates): SdkMetrics {
  const registry = new Registry();
  const instruments = new Map(
    SDK_METRICS.map((metric) => [
      metric.name,
      { labels: Object.keys(metric.labels), apply: instrumentFor(metric, registry) },
    ]),
  );
  return {
    registry,
    drain() {
      for (const { metric, value, attributes } of retrieveUpdates()) {
        const instrument = instruments.get(shownName(metric.name, metric.kind));
        instrument?.apply(closedLabels(attributes, instrument.labels), value);
      }
    },
  };
}

function instrumentFor({ name, type, help, labels }: MetricDescription, registry: Registry): Instrument {
  const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
  if (type === 'counter') {
    const counter = new Counter(options);
    return (of, value) => {
      counter.inc(of, value);
    };
  }
  if (type === 'gauge') {
    const gauge = new Gauge(options);
    return (of, value) => {
      gauge.set(of, value);
    };
  }
  const histogram = new Histogram({ ...options, buckets: BUCKETS_SECONDS });
  return (of, value) => {
    histogram.observe(of, value);
  };
}

/** By the conventions of Prometheus, whatever the SDK uses: prefix, unit, and `total` for a counter. */
function shownName(name: string, kind: string): string {
  const prefixed = name.startsWith('temporal_') ? name : `temporal_${name}`;
  if (kind === 'counter') return `${prefixed.replace(/_total$/, '')}_total`;
  return kind === 'histogram' ? `${prefixed.replace(/_seconds$/, '')}_seconds` : prefixed;
}

// A client of Temporal can start a workflow of any name on our queues, and must not create series here.
function closedLabels(attributes: BufferedMetricUpdate['attributes'], names: readonly string[]): Labels {
  const labels: Record<string, string> = {};
  for (const name of names) {
    const given = attributes[name];
    if (given === undefined || typeof given === 'object') continue;
    const value = name === 'task_queue' ? queueOf(String(given)) : String(given);
    labels[name] = SDK_LABELS[name]?.includes(value) === true ? value : OTHER;
  }
  return labels;
}

function queueOf(name: string): string {
  return QUEUE_NAMES.find((queue) => name.endsWith(`-${queue}`)) ?? OTHER;
}
