// Whose traces requests name: a caller's is linked and goes no further, and neither operator, merchant nor Temporal is handed ours.
import assert from 'node:assert/strict';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { spanIdOf, traceIdOf } from '../../src/domain/trace.ts';
import { collectionWorkflowId } from '../../src/temporal/workflow-ids.ts';
import { call, collectionFields } from '../support/api.ts';
import { temporalClient } from '../support/engines.ts';
import { phoneFor } from '../support/payments.ts';
import { untilAllReceived } from '../support/payment-events.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { eventually } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { startCollector } from './collector.ts';

const [TRACE, SPAN] = ['ab'.repeat(16), 'cd'.repeat(8)];
/** All that programs name a trace in: of W3C, Zipkin, Jaeger, AWS and Datadog. */
const THEIRS = {
  traceparent: `00-${TRACE}-${SPAN}-01`,
  tracestate: 'theirs=1',
  baggage: 'who=Okello',
  b3: `${TRACE}-${SPAN}-1`,
  'x-b3-traceid': TRACE,
  'uber-trace-id': `${TRACE}:${SPAN}:0:1`,
  'x-amzn-trace-id': `Root=1-${TRACE.slice(0, 8)}-${TRACE.slice(8)}`,
  'x-datadog-trace-id': '42',
};

type Sent = { readonly headers: Readonly<Record<string, unknown>>; readonly body: string };

describe('the trace that a caller names', () => {
  const collector = useFixture(startCollector, (started) => started.stop());
  const operator = useFixture(startScriptedOperator, (started) => started.stop());
  const testEnv = useTestEnvironment(() => ({
    mtnMomoUrl: operator.url,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  }));
  const idempotencyKey = 'a-traced-collection';
  let id: string;
  let requestId: string;

  before(async () => {
    operator.setStatus({ status: 'SUCCESSFUL' });
    const { baseUrl, merchant } = testEnv;
    const json = collectionFields({ phone: phoneFor('100') });
    const options = { key: merchant.key, json, headers: THEIRS, idempotencyKey };
    const response = await call(baseUrl, 'POST', '/v1/api/collections', options);
    assert.equal(response.status, 202, response.text);
    id = String(response.json['id']);
    requestId = String(response.headers.get('malipo-request-id'));
    await untilAllReceived(testEnv, { id, merchant });
    await eventually('the end of the run', () => collector.spans.some(({ name }) => name === 'collectionWorkflow'));
  });

  function assertNamesNoTrace({ headers, body }: Sent): void {
    const named = Object.keys(THEIRS).filter((name) => name in headers);
    assert.deepEqual(named, []);
    const text = JSON.stringify(headers) + body;
    const forbidden = {
      TRACE,
      SPAN,
      trace: traceIdOf(id),
      span: spanIdOf(requestId),
      accepted: spanIdOf(id),
      baggage: 'Okello',
    };
    for (const [name, part] of Object.entries(forbidden)) assert.ok(!text.includes(part), name);
  }

  it('is linked by the span of its request, and by no other', () => {
    const linking = collector.spans.filter(({ links = [] }) => links.length > 0);
    assert.deepEqual(
      linking.map(({ name, spanId, links }) => [name, spanId, links?.map(({ traceId }) => traceId)]),
      [['POST /v1/api/collections', spanIdOf(requestId), [TRACE]]],
    );
  });

  it('is the trace of no span, nor the parent of one', () => {
    const parents = collector.spans.map(({ parentSpanId }) => parentSpanId);
    assert.ok(!parents.includes(SPAN));
    assert.ok(collector.spans.every(({ traceId }) => traceId !== TRACE));
    assert.ok(collector.spans.some(({ traceId }) => traceId === traceIdOf(id)));
  });

  it('is not handed to the operator, and ours neither', () => {
    // Its token, the prompt and a status query.
    assert.ok(operator.received.length >= 3, `${operator.received.length} requests`);
    for (const received of operator.received) assertNamesNoTrace(received);
  });

  it('is not handed to the receiver of the merchant, and ours neither', () => {
    const webhooks = testEnv.receiver.all(testEnv.merchant.id);
    assert.ok(webhooks.length >= 2, `${webhooks.length} webhooks`);
    for (const { headers, rawBody } of webhooks) assertNamesNoTrace({ headers, body: rawBody.toString('utf8') });
  });

  it('is not in the history of the run, and ours neither', async () => {
    const workflowId = collectionWorkflowId(testEnv.merchant.id, idempotencyKey);
    const history = await (await temporalClient()).workflow.getHandle(workflowId).fetchHistory();
    const headers: string[] = [];
    JSON.parse(historyToJSON(history), (key, value: unknown) => {
      if (key === 'header') headers.push(JSON.stringify(value));
      return value;
    });
    assert.deepEqual([...new Set(headers)], ['{}']);
  });
});
