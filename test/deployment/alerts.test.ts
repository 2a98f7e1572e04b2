// The alerts as files: promtool accepts them, each has its test and its entry in the runbook, and they name what exists.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProjectRoot } from '../../src/project-root.ts';
import { metricCatalogue } from '../../src/server/metrics/catalogue.ts';
import type { MetricDescription } from '../../src/server/metrics/metric-description.ts';
import { apiRoutes } from '../../tools/api-routes.ts';
import { findPrometheus } from '../../tools/prometheus.ts';
import {
  dashboards,
  expressions,
  namesOf,
  PROMETHEUS_FOLDER,
  RULE_TESTS,
  ruleTests,
  rules,
  type Named,
} from '../support/alert-files.ts';

const run = promisify(execFile);
const alerts = rules().flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));
const recorded = new Set(rules().map(({ record }) => record));
const catalogue = metricCatalogue(apiRoutes());
const DESCRIBED = [...catalogue.ofProcess, ...catalogue.ofService, ...catalogue.ofSdk];
/** What Prometheus itself adds, or the library of Node.js; a server that runs is held to the latter in test/server. */
const NOT_OURS = /^(up|ALERTS|(nodejs|process)_\w+)$/;
const OF_PROMETHEUS = ['job', 'instance', 'le'];

describe('the rules of Prometheus', () => {
  for (const [title, args] of [
    ['are accepted by promtool', ['check', 'rules', 'malipo-rules.yml']],
    ['ring at each fault and end with it, as promtool runs their tests', ['test', 'rules', ...RULE_TESTS]],
  ] as const) {
    it(title, async function () {
      const programs = findPrometheus();
      if (programs === null) {
        console.log(`NOT RUN promtool ${args.join(' ')}: Debian's package prometheus is not to be had`);
        this.skip();
        return;
      }
      const { stdout } = await run(programs.promtool, [...args], { cwd: PROMETHEUS_FOLDER });
      assert.match(stdout, /SUCCESS/);
    });
  }

  it('have a test for each alert in which it rings, and one in which it has ended', () => {
    const tested = ruleTests().flatMap(({ promql_expr_test: cases }) => cases);
    for (const { alert } of alerts) {
      const own = tested.filter(({ expr }) => expr.includes(`alertname="${alert}"`));
      const rings = own.map(({ exp_samples: samples }) => samples.length > 0);
      assert.ok(rings.includes(true), `${alert} never rings`);
      assert.equal(rings.at(-1), false, `${alert} does not end`);
    }
  });

  it('name for each alert its urgency, its event, and its entry in the runbook', () => {
    const runbook = readFileSync(join(findProjectRoot(), 'docs/runbook.md'), 'utf8');
    const entries = [
      ...runbook.matchAll(
        /^### (\w+)\n\n`(\w+)`\.\n\n- \*\*For money\*\*: .+[^]*?- \*\*Look\*\*: .+[^]*?- \*\*Do\*\*: .+/gm,
      ),
    ];
    assert.deepEqual(
      entries.map(([, alert, severity]) => ({ alert, severity })),
      alerts.map(({ alert, labels }) => ({ alert, severity: labels?.['severity'] })),
    );
    for (const { alert, labels, annotations } of alerts) {
      assert.match(labels?.['severity'] ?? '', /^(page|ticket)$/);
      assert.ok((annotations?.['summary'] ?? '').length > 10, alert);
      assert.equal(annotations?.['runbook'], `docs/runbook.md#${alert.toLowerCase()}`);
    }
  });
});

describe('the rules and dashboards', () => {
  it('name metrics that exist, with their own labels and values that these may have', () => {
    const problems = expressions().flatMap(({ where, expr }) =>
      namesOf(expr).metrics.flatMap((named) => problemsOf(named).map((problem) => `${where}: ${problem}`)),
    );
    assert.deepEqual(problems, []);
  });

  it('group by labels of the metrics that they name', () => {
    for (const { where, expr } of expressions()) {
      const { metrics, grouped } = namesOf(expr);
      const known = metrics.flatMap(({ metric }) => [
        ...Object.keys(describedAs(metric)?.labels ?? {}),
        ...labelsRecorded(metric),
      ]);
      for (const label of grouped) assert.ok([...known, ...OF_PROMETHEUS].includes(label), `${where}: ${label}`);
    }
  });

  it('never sum figures that every process reads from the database', () => {
    const ofService = new Set(catalogue.ofService.map(({ name }) => name));
    for (const { where, expr } of expressions()) {
      for (const { metric } of namesOf(expr).metrics) {
        if (!ofService.has(metric.replace(/_(bucket|sum|count)$/, ''))) continue;
        // `max` is around it, directly or around its rate; a sum may be around that.
        assert.match(
          expr,
          new RegExp(
            `max( by \\([\\w, ]+\\))? \\((rate\\(|increase\\()?${metric}|max\\((rate\\(|increase\\()?${metric}`,
          ),
          where,
        );
      }
    }
  });

  it('are in dashboards with unique titles and ids', () => {
    assert.equal(new Set(dashboards().map(({ uid }) => uid)).size, 4);
    for (const { uid, panels } of dashboards()) {
      assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length, uid);
      for (const { targets } of panels) assert.notEqual(targets.length, 0);
    }
  });
});

function describedAs(metric: string): MetricDescription | undefined {
  return DESCRIBED.find(({ name, type }) =>
    type === 'histogram' ? metric.startsWith(`${name}_`) && /_(bucket|sum|count)$/.test(metric) : name === metric,
  );
}

/** The labels in the name of a recorded series, which stand before its first colon. */
function labelsRecorded(metric: string): string[] {
  if (!recorded.has(metric)) return [];
  const { expr = '' } = rules().find(({ record }) => record === metric) ?? {};
  return namesOf(expr).grouped.filter((label) => label !== 'le');
}

function problemsOf({ metric, matchers }: Named): string[] {
  if (NOT_OURS.test(metric)) return [];
  const described = describedAs(metric);
  if (!described && !recorded.has(metric)) return [`${metric} does not exist`];
  const sets = described?.labels ?? setsRecorded(metric);
  return matchers.flatMap(({ label, operator, value }) => {
    const values = sets[label];
    if (!values) return OF_PROMETHEUS.includes(label) ? [] : [`${metric} has no label ${label}`];
    const pattern = new RegExp(`^(${value})$`);
    const isMet = operator.includes('~') ? values.some((each) => pattern.test(each)) : values.includes(value);
    const unknown =
      operator.includes('~') && /^[\w|]+$/.test(value) ? value.split('|').filter((each) => !values.includes(each)) : [];
    return isMet && unknown.length === 0 ? [] : [`${metric}{${label}} is never ${value}`];
  });
}

function setsRecorded(metric: string): MetricDescription['labels'] {
  const { expr = '' } = rules().find(({ record }) => record === metric) ?? {};
  const sources = namesOf(expr).metrics.map(({ metric: source }) => describedAs(source)?.labels ?? {});
  const own = new Set(labelsRecorded(metric));
  return Object.fromEntries(
    Object.entries(Object.assign({}, ...sources) as MetricDescription['labels']).filter(([label]) => own.has(label)),
  );
}
