// Reads the metrics of a server as Prometheus does: families with their help, and samples with their labels.
import assert from 'node:assert/strict';

export type ScrapedSample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

export type Scrape = {
  /** Names of metrics with type and help. */
  readonly families: ReadonlyMap<string, { readonly type: string; readonly help: string }>;
  readonly samples: readonly ScrapedSample[];
  /** The samples' value; of those that have these labels the sum. Undefined when there is none. */
  valueOf(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  readonly text: string;
};

export async function scrape(port: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(response.status, 200);
  return parseScrape(await response.text());
}

export function parseScrape(text: string): Scrape {
  const families = new Map<string, { type: string; help: string }>();
  const samples: ScrapedSample[] = [];
  for (const line of text.split('\n')) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (word !== undefined) {
      const family = families.get(name) ?? { type: '', help: '' };
      families.set(name, word === 'HELP' ? { ...family, help: rest } : { ...family, type: rest });
    } else if (line !== '') {
      samples.push(parseSample(line));
    }
  }
  return {
    families,
    samples,
    valueOf(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    text,
  };
}

function parseSample(line: string): ScrapedSample {
  const [, name, , labels = '', value] = /^(\w+)({(.*)})? (\S+)$/.exec(line) ?? [];
  assert.ok(name !== undefined && value !== undefined, line);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, of]) => [label, of]);
  return {
    name,
    labels: Object.fromEntries(pairs) as Record<string, string>,
    value: value === '+Inf' ? Infinity : Number(value),
  };
}
