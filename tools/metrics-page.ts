// Generates the page of metrics: the meaning and the labels of each.
import { collectDefaultMetrics, Registry } from 'prom-client';
import { metricCatalogue } from '../src/server/metrics/catalogue.ts';
import type { MetricDescription } from '../src/server/metrics/metric-description.ts';
import { apiRoutes } from './api-routes.ts';
import { code } from './markdown.ts';

/** A label with more values than these is described in words. */
const MAX_VALUES_SHOWN = 14;

const MANY_VALUES: Readonly<Record<string, string>> = {
  route: 'the template of a route, `/console`, `/docs` or `/pay` with what is below it, or `unrouted`',
  status: 'the HTTP status',
  activity_type: 'the name of an activity, or `other`',
  operation: 'the name of a call to Temporal, or `other`',
  status_code: 'the gRPC status, `TRANSPORT_ERROR`, or `other`',
};

/** Each section with its title, introduction and rows of name, type, help and labels. */
export function metricSections(): readonly {
  readonly title: string;
  readonly text: string;
  readonly rows: readonly string[][];
}[] {
  const { ofService, ofProcess, ofSdk } = metricCatalogue(apiRoutes());
  const rowOf = createRows();
  return [
    {
      title: 'Of the service',
      text: 'Every process reads them from the database at a scrape, at most once in three seconds. All processes show the same values, so take `max without (instance)` and never a sum. They are missing while the process cannot read the database (`malipo_database_readable` is 0). Values that a dispatcher folds are a second old, and stand still while none runs.',
      rows: ofService.map(rowOf),
    },
    {
      title: 'Of a process',
      text: 'Each process counts for itself, from 0 at its start: take the sum of the rates over processes.',
      rows: ofProcess.map(rowOf),
    },
    {
      title: 'Of the Temporal SDK in a process',
      text: 'The SDK measures its workers and its calls to Temporal. A metric without any sample yet shows its help alone. The label `task_queue` leaves out the prefix of the queue.',
      rows: ofSdk.map(rowOf),
    },
  ];
}

/** Rows in the order of the page. The values of a label are omitted if they equal those last shown for it. */
function createRows(): (metric: MetricDescription) => string[] {
  const lastShown = new Map<string, string>();
  return ({ name, type, help, labels }) => {
    const texts = Object.entries(labels).map(([label, values]) => {
      const text = textOf(label, values);
      if (lastShown.get(label) === text) return code(label);
      lastShown.set(label, text);
      return `${code(label)}: ${text}`;
    });
    return [code(name), type, help, texts.join('; ')];
  };
}

function textOf(label: string, values: readonly string[]): string {
  if (values.length > MAX_VALUES_SHOWN) return MANY_VALUES[label] ?? '';
  return values.map(code).join(', ');
}

/** The metrics of `prom-client` for any process of Node.js. */
export async function metricsOfNode(): Promise<string[]> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = await registry.getMetricsAsJSON();
  registry.clear();
  return metrics.map(({ name }) => name).sort();
}
