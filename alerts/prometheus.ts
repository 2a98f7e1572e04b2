// A Prometheus beside servers that run, with the rules of deploy/ where only waits and spans are shorter.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../src/engines/process/ports.ts';
import { findProjectRoot } from '../src/project-root.ts';
import { findPrometheus } from '../tools/prometheus.ts';

export type Prometheus = {
  readonly url: string;
  /** The alerts that fire now; null while Prometheus does not say. */
  firing(): Promise<ReadonlySet<string> | null>;
  /** What a query gives, a value for each series. */
  values(query: string): Promise<readonly number[]>;
  stop(): Promise<void>;
};

type PrometheusOptions = {
  /** It is made; configuration, data and log go there. */
  readonly folder: string;
  /** The ports at which the processes show their metrics. */
  readonly ports: readonly number[];
  readonly scrapeEverySeconds: number;
  /** Over how long rates are taken, and how far an `offset` looks back. */
  readonly spanSeconds: number;
};

type Alerts = { readonly data: { readonly alerts: readonly { labels: { alertname: string }; state: string }[] } };
type Vector = { readonly data: { readonly result: readonly { value: [number, string] }[] } };

/** Null where Prometheus cannot be had. */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus | null> {
  const programs = findPrometheus();
  if (programs === null) return null;
  const { folder, ports, scrapeEverySeconds, spanSeconds } = options;
  mkdirSync(folder);
  const rules = readFileSync(join(findProjectRoot(), 'deploy/prometheus/malipo-rules.yml'), 'utf8');
  writeFileSync(join(folder, 'malipo-rules.yml'), hastened(rules, spanSeconds));
  writeFileSync(join(folder, 'prometheus.yml'), configOf(ports, scrapeEverySeconds));
  const address = `127.0.0.1:${await freePort()}`;
  const started = spawn(
    programs.prometheus,
    ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`],
    { cwd: folder, stdio: 'ignore' },
  );
  const url = `http://${address}`;
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`${url}${path}`).catch(() => null);
    return response?.ok === true ? response.json() : null;
  };
  return {
    url,
    async firing() {
      const found = (await get('/api/v1/alerts')) as Alerts | null;
      if (found === null) return null;
      const firing = found.data.alerts.filter(({ state }) => state === 'firing');
      return new Set(firing.map(({ labels }) => labels.alertname));
    },
    async values(query) {
      const found = (await get(`/api/v1/query?query=${encodeURIComponent(query)}`)) as Vector | null;
      return found?.data.result.map(({ value }) => Number(value[1])) ?? [];
    },
    async stop() {
      started.kill('SIGKILL');
      if (started.exitCode === null && started.signalCode === null) await once(started, 'exit');
    },
  };
}

/** The same expressions and thresholds: only how long they must hold, over how long rates are taken and what they are compared with is nearer. */
function hastened(rules: string, spanSeconds: number): string {
  return rules
    .replace(/for: \w+/g, 'for: 0s')
    .replace(/\[\d+[mh]\]/g, `[${spanSeconds}s]`)
    .replace(/offset \d+[hd]/g, `offset ${spanSeconds}s`);
}

const configOf = (ports: readonly number[], scrapeEverySeconds: number): string => `
global: {scrape_interval: ${scrapeEverySeconds}s, scrape_timeout: ${scrapeEverySeconds}s, evaluation_interval: 1s}
rule_files: [malipo-rules.yml]
scrape_configs:
  - job_name: malipo
    static_configs: [{targets: [${ports.map((port) => `'127.0.0.1:${port}'`).join(', ')}]}]
`;
