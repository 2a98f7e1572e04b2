// The metrics of a server with all roles that has worked: what they count, how they are named, and that no request makes new series.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/engines/process/ports.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { apiRoutes } from '../../tools/api-routes.ts';
import { metricCatalogue } from '../../src/server/metrics/catalogue.ts';
import type { MetricDescription } from '../../src/server/metrics/metric-description.ts';
import { newId } from '../../src/domain/ids.ts';
import { exchange } from '../api/raw-http.ts';
import { pay, untilState } from '../support/payments.ts';
import { untilPayoutState, releasedPayout } from '../support/payouts.ts';
import { expressions, namesOf, rules } from '../support/alert-files.ts';
import { scrape, type Scrape } from '../support/scrape.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const CATALOGUE = metricCatalogue(apiRoutes());
const DESCRIBED = [...CATALOGUE.ofProcess, ...CATALOGUE.ofService, ...CATALOGUE.ofSdk];
/** The library's metrics of the process: Node.js sets the values of their labels. */
const OF_NODE = /^(process|nodejs)_/;

describe('the metrics of a server that has worked', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  let port: number;
  let seen: Scrape;

  before(async () => {
    port = await freePort();
    await testEnv.startServer({ MALIPO_METRICS_PORT: String(port) });
    testEnv.receiver.answerWith(testEnv.merchant.id, (_, response) => response.writeHead(500).end());
    await untilState(testEnv, await pay(testEnv, '000'), 'succeeded');
    await untilState(testEnv, await pay(testEnv, '001'), 'failed');
    const merchant = await testEnv.addMerchant();
    const payout = await releasedPayout(testEnv, '000', { merchant });
    await untilPayoutState(testEnv, payout, 'succeeded');
    await askForEverything(testEnv.baseUrl);
    seen = await eventually('the folded figures of all that happened', async () => {
      const now = await scrape(port);
      const dead = now.valueOf('malipo_deliveries_dead_lettered_total') ?? 0;
      const paid = now.valueOf('malipo_payment_changes_total', { kind: 'payout', state: 'succeeded' });
      return dead > 0 && paid === 1 && now;
    });
  });

  it('count payments by kind, operator and state, and time them to their outcome', () => {
    const collection = { kind: 'collection', operator: 'mtn-momo' };
    const changes = (labels: Record<string, string>) => seen.valueOf('malipo_payment_changes_total', labels);
    // One of them funds the merchant who pays out.
    assert.equal(changes({ ...collection, state: 'initiated' }), 3);
    assert.equal(changes({ ...collection, state: 'succeeded' }), 2);
    assert.equal(changes({ ...collection, state: 'failed' }), 1);
    assert.equal(changes({ kind: 'reversal', state: 'succeeded' }), 0);
    assert.equal(seen.valueOf('malipo_payments', { ...collection, state: 'initiated' }), 0);
    assert.equal(seen.valueOf('malipo_payments', { kind: 'payout', operator: 'mtn-momo', state: 'succeeded' }), 1);
    const timed = (suffix: string, labels = {}) =>
      seen.valueOf(`malipo_payment_duration_seconds_${suffix}`, { ...collection, state: 'succeeded', ...labels });
    assert.equal(timed('count'), 2);
    assert.equal(timed('bucket', { le: '+Inf' }), 2);
    assert.ok((timed('sum') ?? 0) > 0);
    assert.equal(seen.valueOf('malipo_payment_duration_seconds_count', { kind: 'payout' }), 1);
  });

  it('count requests by route, operator calls and webhook attempts by result, and time them', () => {
    const requests = (labels: Record<string, string>) => seen.valueOf('malipo_http_requests_total', labels);
    assert.equal(requests({ method: 'POST', route: '/v1/api/collections', status: '202' }), 2);
    assert.equal(requests({ method: 'GET', route: '/v1/api/collections/{id}', status: '401' }), 2);
    assert.equal(requests({ route: 'unrouted' }), 3);
    assert.equal(requests({ method: 'other', route: '/v1/api/balance' }), 1);
    assert.ok((seen.valueOf('malipo_http_request_duration_seconds_count', { route: '/v1/api/collections' }) ?? 0) >= 2);
    const calls = { operator: 'mtn-momo', call: 'raise_prompt', result: 'accepted' };
    assert.equal(seen.valueOf('malipo_operator_calls_total', calls), 2);
    assert.ok((seen.valueOf('malipo_webhook_attempts_total', { result: '5xx' }) ?? 0) >= 10);
    for (const pool of ['main', 'queues']) {
      assert.ok((seen.valueOf('malipo_database_pool_wait_duration_seconds_count', { pool }) ?? 0) > 0, pool);
      assert.equal(seen.valueOf('malipo_database_pool_failures_total', { pool }), 0);
      assert.ok((seen.valueOf('malipo_database_pool_connections', { pool }) ?? 0) > 0, pool);
    }
    assert.equal(seen.valueOf('malipo_database_pool_max_connections', { pool: 'queues' }), 4);
    assert.equal(seen.valueOf('malipo_database_readable'), 1);
    assert.equal(seen.valueOf('malipo_process_role', { role: 'worker' }), 1);
  });

  it('include the measurements of the Temporal SDK, by our queues and types', () => {
    const completed = { workflow_type: 'collectionWorkflow', task_queue: 'mtn-momo' };
    assert.ok((seen.valueOf('temporal_workflow_completed_total', completed) ?? 0) >= 2);
    assert.ok((seen.valueOf('temporal_num_pollers', { task_queue: 'mtn-momo' }) ?? 0) > 0);
    assert.ok(
      (seen.valueOf('temporal_request_latency_seconds_count', { operation: 'StartWorkflowExecution' }) ?? 0) > 0,
    );
  });

  it('are all described, with the type and the help that are described', () => {
    for (const [name, { type, help }] of seen.families) {
      if (OF_NODE.test(name)) continue;
      const description = DESCRIBED.find((metric) => metric.name === name);
      assert.deepEqual({ name, type, help }, pickOf(description));
    }
    for (const { name } of [...CATALOGUE.ofProcess, ...CATALOGUE.ofService]) assert.ok(seen.families.has(name), name);
  });

  it('are named by convention: with their unit, and with `total` exactly for counters', () => {
    for (const { name, type, help } of DESCRIBED) {
      assert.match(name, /^(malipo|temporal)_[a-z]+(_[a-z]+)*$/);
      assert.doesNotMatch(name, /_(ms|millis\w*|minutes|percent)(_|$)|_seconds_total$/, name);
      assert.equal(name.endsWith('_total'), type === 'counter', name);
      if (/_(age|duration|latency|timestamp|as_of)(_|$)/.test(name)) assert.match(name, /_seconds$/);
      assert.ok(help.length > 5, name);
    }
  });

  it('have labels of closed sets only: none has an id, phone or path, whatever was requested', () => {
    for (const { name, labels } of seen.samples) {
      if (OF_NODE.test(name)) continue;
      const description = DESCRIBED.find(
        (metric) => name.replace(/_(bucket|sum|count)$/, '') === metric.name || name === metric.name,
      );
      assert.ok(description, name);
      for (const [label, value] of Object.entries(labels)) {
        if (label === 'le') continue;
        assert.ok(description.labels[label]?.includes(value), `${name}{${label}="${value}"}`);
      }
    }
    assert.doesNotMatch(seen.text, /(col|pay|mer|usr|whe|dlv|req|evt)_[0-9a-z]{10}|25677/);
  });

  it('have no series more when the same is asked again with other ids, paths and methods', async () => {
    await askForEverything(testEnv.baseUrl);
    const after = await scrape(port);
    const ofRequests = ({ samples }: Scrape) =>
      samples
        .filter(({ name }) => name.startsWith('malipo_http_'))
        .map(({ name, labels }) => JSON.stringify([name, labels]));
    assert.deepEqual(ofRequests(after).sort(), ofRequests(seen).sort());
    assert.equal(after.valueOf('malipo_http_requests_total', { route: 'unrouted' }), 6);
    assert.ok(after.samples.length < 5000, String(after.samples.length));
  });

  it('are all that alerts and dashboards name, with their labels', () => {
    const recorded = new Set(rules().map(({ record }) => record));
    for (const { where, expr } of expressions()) {
      for (const { metric } of namesOf(expr).metrics) {
        if (recorded.has(metric) || metric === 'up' || metric === 'ALERTS') continue;
        const isShown =
          seen.families.has(metric) ||
          seen.families.get(metric.replace(/_(bucket|sum|count)$/, ''))?.type === 'histogram';
        assert.ok(isShown, `${where}: ${metric}`);
      }
    }
  });

  it('are in docs/metrics.md, each with its labels', () => {
    const page = readFileSync(join(findProjectRoot(), 'docs/metrics.md'), 'utf8');
    for (const name of seen.families.keys()) assert.ok(page.includes(`\`${name}\``), name);
  });
});

/** What nobody should ask for: other ids and paths at every call. */
async function askForEverything(baseUrl: string): Promise<void> {
  const random = randomUUID();
  const paths = [
    `/v1/api/collections/${random}`,
    `/v1/api/collections/${newId('col')}?phone=${random}`,
    `/${random}`,
    `/v1/api/${random}`,
    `/v1/api/collections/a/b/${random}`,
    `/pay/${random}`,
    `/console/${random}`,
  ];
  for (const path of paths) await (await fetch(baseUrl + path)).text();
  await exchange(baseUrl, `PROPFIND /v1/api/balance HTTP/1.1\r\nHost: ${random}\r\nConnection: close\r\n\r\n`);
}

function pickOf(description: MetricDescription | undefined) {
  return description && { name: description.name, type: description.type, help: description.help };
}
