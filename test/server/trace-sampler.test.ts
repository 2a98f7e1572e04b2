// Which payments are traced where only a part of them is: each whole or not at all, and the same ones in every process.
import assert from 'node:assert/strict';
import { loadConfig } from '../../src/settings/config.ts';
import { spanIdOf, traceIdOf } from '../../src/domain/trace.ts';
import { createOtlpTraces } from '../../src/server/telemetry/otlp-traces.ts';
import type { TraceExport } from '../../src/settings/traces.ts';
import { call, collectionFields } from '../support/api.ts';
import { collectedLog } from '../support/log-lines.ts';
import { phoneFor } from '../support/payments.ts';
import { untilAllReceived } from '../support/payment-events.ts';
import { eventually } from '../support/test-environment.ts';
import { useFixture, useFixturePerCase } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { SPAN, recordSpans, startCollector, type Collector } from './collector.ts';
import { problemsOf, SOUND } from '../settings/sound-settings.ts';

const RATIO = { OTEL_TRACES_SAMPLER: 'traceidratio' };
const IDS = Array.from({ length: 1000 }, (_, n) => `payment ${n}`);
/** How many of these are traced by which part: the same ids have the same traces, so no run decides it. */
const KEPT = { '0.1': 118, '0.25': 256, '0.5': 504 };
const part = (OTEL_TRACES_SAMPLER_ARG: string) => ({ ...RATIO, OTEL_TRACES_SAMPLER_ARG });

/** What these settings, beside the address of a collector, are read as. */
function exportOf(url: string, settings: Readonly<Record<string, string>>): TraceExport {
  const { traceExport } = loadConfig({ ...SOUND, OTEL_EXPORTER_OTLP_ENDPOINT: url, ...settings });
  assert.ok(traceExport !== null);
  return traceExport;
}

describe('the sampler of traces', () => {
  const collectors = useFixturePerCase(
    async () => ({ first: await startCollector(), second: await startCollector() }),
    ({ first, second }) => Promise.all([first.stop(), second.stop()]),
  );

  /** Records two spans for each of `IDS`, as one process would; the traces of which the collector has both, `count` of them. */
  async function tracedBy(
    collector: Collector,
    settings: Readonly<Record<string, string>>,
    count: number,
  ): Promise<string[]> {
    const { lines, log } = collectedLog('warn');
    const traces = createOtlpTraces(exportOf(collector.url, settings), 'test', log);
    for (const id of IDS) {
      const span = { ...SPAN, traceId: traceIdOf(id) };
      traces.record({ ...span, name: 'above', spanId: spanIdOf(id), parentSpanId: null });
      traces.record({ ...span, name: 'below', spanId: spanIdOf(`${id}/`), parentSpanId: spanIdOf(id) });
    }
    await traces.close();
    assert.deepEqual(lines, []);
    const named = (name: string) => collector.spans.flatMap((span) => (span.name === name ? span.traceId : [])).sort();
    await eventually(`${count} traces`, () => Math.min(named('above').length, named('below').length) >= count);
    assert.deepEqual(named('above'), named('below'));
    assert.equal(named('above').length, count);
    return named('above');
  }

  it('keeps the part of the traces that the settings name, and the same ones in each process', async () => {
    const first = await tracedBy(collectors.first, part('0.25'), KEPT['0.25']);
    assert.deepEqual(await tracedBy(collectors.second, part('0.25'), KEPT['0.25']), first);
  });

  it('keeps for a greater part those of a smaller one too', async () => {
    const few = await tracedBy(collectors.first, part('0.1'), KEPT['0.1']);
    const many = new Set(await tracedBy(collectors.second, part('0.5'), KEPT['0.5']));
    assert.deepEqual(
      few.filter((traceId) => !many.has(traceId)),
      [],
    );
  });

  it('keeps none for 0', async () => {
    await tracedBy(collectors.first, part('0'), 0);
  });

  it('keeps all without a share, and as `always_on` with any share', async () => {
    await tracedBy(collectors.first, RATIO, IDS.length);
    await tracedBy(collectors.second, { ...part('0'), OTEL_TRACES_SAMPLER: 'always_on' }, IDS.length);
  });

  it('is no other one than these two, and the part is no less than 0 and no more than 1', () => {
    for (const OTEL_TRACES_SAMPLER of ['parentbased_always_on', 'parentbased_traceidratio', 'always_off'])
      assert.deepEqual(problemsOf({ ...SOUND, OTEL_TRACES_SAMPLER }), ['OTEL_TRACES_SAMPLER']);
    for (const OTEL_TRACES_SAMPLER_ARG of ['-0.1', '1.1', 'half'])
      assert.deepEqual(problemsOf({ ...SOUND, OTEL_TRACES_SAMPLER_ARG }), ['OTEL_TRACES_SAMPLER_ARG']);
  });
});

describe('a payment of a service that traces half of them', () => {
  const collector = useFixture(startCollector, (started) => started.stop());
  const elsewhere = useFixture(startCollector, (started) => started.stop());
  const testEnv = useTestEnvironment({ startsServer: false });
  const HALF = part('0.5');
  /** A number at which all are of one kind once in 2^31 runs. */
  const PAYMENTS = 32;
  const PARTS = ['POST /v1/api/collections', 'mtn-momo send', 'collectionWorkflow', 'webhook collection.succeeded'];

  /** A payment whose caller asks for its trace. */
  async function request(): Promise<string> {
    const { baseUrl, merchant } = testEnv;
    const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    const json = collectionFields({ phone: phoneFor('100') });
    const response = await call(baseUrl, 'POST', '/v1/api/collections', { key: merchant.key, json, headers });
    assert.equal(response.status, 202, response.text);
    return String(response.json['id']);
  }

  /** As a process decides that knows nothing of these payments. */
  async function chosenElsewhere(ids: readonly string[]): Promise<Set<string>> {
    const traces = createOtlpTraces(exportOf(elsewhere.url, HALF), 'test', collectedLog('warn').log);
    recordSpans(traces, ids);
    await traces.close();
    return new Set(elsewhere.spans.map(({ traceId }) => traceId));
  }

  it('is traced whole or not at all, whatever its caller requests', async () => {
    const server = await testEnv.startServer({
      ...HALF,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    const ids = await Promise.all(Array.from({ length: PAYMENTS }, request));
    for (const id of ids) await untilAllReceived(testEnv, { id, merchant: testEnv.merchant });
    const chosen = await chosenElsewhere(ids);
    const traced = ids.filter((id) => chosen.has(traceIdOf(id)));
    const untraced = ids.filter((id) => !traced.includes(id));
    assert.ok(traced.length > 0 && untraced.length > 0, `${traced.length} of ${ids.length}`);
    const partsOf = (id: string) => {
      const names = collector.spans.filter(({ traceId }) => traceId === traceIdOf(id)).map(({ name }) => name);
      return PARTS.filter((part) => names.includes(part));
    };
    for (const id of traced) await eventually(`the trace of ${id}`, () => partsOf(id).length === PARTS.length);
    await server.stop();
    const known = new Set(traced.map(traceIdOf));
    const ofPayments = new Set(ids.map(traceIdOf));
    assert.deepEqual(
      collector.spans.filter(({ traceId }) => ofPayments.has(traceId) && !known.has(traceId)),
      [],
    );
  });
});
