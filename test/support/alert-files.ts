// The files of alerts and dashboards, and which metrics and labels their expressions name.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { findProjectRoot } from '../../src/project-root.ts';

export const PROMETHEUS_FOLDER = join(findProjectRoot(), 'deploy/prometheus');
const GRAFANA_FOLDER = join(findProjectRoot(), 'deploy/grafana');

export type Rule = {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};
type RuleFile = { readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[] };
type RuleTest = {
  readonly tests: readonly {
    readonly promql_expr_test: readonly {
      readonly expr: string;
      readonly exp_samples: readonly { readonly labels: string }[];
    }[];
  }[];
};
type Dashboard = {
  readonly uid: string;
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
};

const read = (file: string): unknown => parse(readFileSync(join(PROMETHEUS_FOLDER, file), 'utf8'));

export function rules(): readonly Rule[] {
  return (read('malipo-rules.yml') as RuleFile).groups.flatMap((group) => group.rules);
}

export const RULE_TESTS = ['malipo-rules.test.yml', 'malipo-rules-slow.test.yml'];

export function ruleTests(): RuleTest['tests'] {
  return RULE_TESTS.flatMap((file) => (read(file) as RuleTest).tests);
}

export function dashboards(): readonly Dashboard[] {
  return readdirSync(GRAFANA_FOLDER).map(
    (file) => JSON.parse(readFileSync(join(GRAFANA_FOLDER, file), 'utf8')) as Dashboard,
  );
}

/** Each expression of rules and dashboards, with where it is. */
export function expressions(): readonly { readonly where: string; readonly expr: string }[] {
  return [
    ...rules().map(({ alert, record, expr }) => ({ where: alert ?? record ?? '', expr })),
    ...dashboards().flatMap(({ uid, panels }) =>
      panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: `${uid}: ${title}`, expr }))),
    ),
  ];
}

export type Named = {
  readonly metric: string;
  /** The label, the operator and the value of its matchers. */
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
};

const WORDS = new Set('by without on ignoring group_left group_right or and unless offset bool inf nan'.split(' '));

/** The metrics that an expression selects, and the labels that it groups by. */
export function namesOf(expr: string): { readonly metrics: readonly Named[]; readonly grouped: readonly string[] } {
  const grouped: string[] = [];
  const bare = expr.replace(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, labels: string) => {
    grouped.push(...labels.split(',').map((label) => label.trim()));
    return ' ';
  });
  const metrics: Named[] = [];
  for (const [, name = '', , matchers = '', call] of bare.matchAll(
    /(?<![\w:."[])([a-zA-Z_:][\w:]*)\s*({((?:[^}"]|"[^"]*")*)})?(\s*\()?/g,
  )) {
    if (call !== undefined || WORDS.has(name.toLowerCase())) continue;
    metrics.push({
      metric: name,
      matchers: [...matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
        ([, label = '', operator = '', value = '']) => ({
          label,
          operator,
          value,
        }),
      ),
    });
  }
  return { metrics, grouped };
}
