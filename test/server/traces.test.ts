// Traces as a collector receives them: one for each payment, from its request to the webhook, and never at the price of a payment.
import assert from 'node:assert/strict';
import { newId } from '../../src/domain/ids.ts';
import { spanIdOf, traceIdOf } from '../../src/domain/trace.ts';
import { call, collectionFields, type ApiResponse } from '../support/api.ts';
import { collectedLog } from '../support/log-lines.ts';
import { pay, phoneFor, untilState } from '../support/payments.ts';
import { storedEvents, untilAllReceived } from '../support/payment-events.ts';
import { fund, release, requestPayout, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { eventually } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { startCollector, type ReceivedSpan } from './collector.ts';
import { valuesOf } from '../support/values-of.ts';

const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];
const THEIR_TRACE = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) };

describe('the trace of a payment', () => {
  const collector = useFixture(startCollector, (started) => started.stop());
  const testEnv = useTestEnvironment(() => ({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' },
  }));

  const traceOf = (id: string) => collector.spans.filter(({ traceId }) => traceId === traceIdOf(id));
  const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);
  const only = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
    const [span, ...others] = named(spans, name);
    assert.ok(
      span && others.length === 0,
      `${named(spans, name).length} of ${name} in ${spans.map((s) => s.name).join()}`,
    );
    return span;
  };

  async function wholeTrace(id: string, lastSpan: string): Promise<ReceivedSpan[]> {
    await eventually(`${lastSpan} of ${id}`, () => named(traceOf(id), lastSpan).length > 0);
    return traceOf(id);
  }

  async function request(headers = {}): Promise<{ response: ApiResponse; id: string; phone: string }> {
    const phone = phoneFor('100');
    const json = collectionFields({ phone, reference: 'Rent of Okello', amount: 90_417 });
    const { baseUrl, merchant } = testEnv;
    const response = await call(baseUrl, 'POST', '/v1/api/collections', { key: merchant.key, json, headers });
    assert.equal(response.status, 202, response.text);
    return { response, id: String(response.json['id']), phone };
  }

  it('leads from the request through workflow and activities to the operator and the webhooks', async () => {
    const { response, id } = await request();
    await untilAllReceived(testEnv, { id, merchant: testEnv.merchant });
    await eventually('the attempts', async () => {
      const events = await storedEvents(testEnv.db, id);
      return events.length === 2 && events.every(({ type }) => named(traceOf(id), `webhook ${type}`).length > 0);
    });
    const spans = await wholeTrace(id, 'collectionWorkflow');

    const server = only(spans, 'POST /v1/api/collections');
    assert.equal(server.parentSpanId, undefined);
    assert.equal(server.kind, SERVER);
    const requestId = String(response.headers.get('malipo-request-id'));
    assert.equal(server.spanId, spanIdOf(requestId));
    const expected = { 'http.route': '/v1/api/collections', 'http.response.status_code': 202, 'malipo.payment_id': id };
    for (const [key, value] of Object.entries(expected)) assert.equal(server.attributes[key], value, key);

    const accepted = only(spans, 'accept collection');
    assert.equal(accepted.parentSpanId, server.spanId);
    const workflow = only(spans, 'collectionWorkflow');
    assert.equal(workflow.parentSpanId, accepted.spanId);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const parentOf = (span: ReceivedSpan) => byId.get(span.parentSpanId ?? '');
    for (const name of ['sendWithOperator', 'queryStatusWithOperator']) {
      const activities = named(spans, name);
      assert.ok(activities.length > 0, name);
      for (const activity of activities) assert.equal(parentOf(activity), workflow);
    }
    const send = only(spans, 'mtn-momo send');
    assert.equal(send.kind, CLIENT);
    assert.equal(parentOf(send)?.name, 'sendWithOperator');
    for (const query of named(spans, 'mtn-momo status_query'))
      assert.equal(parentOf(query)?.name, 'queryStatusWithOperator');
    for (const [state, activity] of [
      ['prompted', 'sendWithOperator'],
      ['succeeded', 'queryStatusWithOperator'],
    ] as const) {
      const change = only(spans, `collection ${state}`);
      assert.deepEqual([change.kind, parentOf(change)?.name], [INTERNAL, activity]);
      const webhook = only(spans, `webhook collection.${state}`);
      assert.deepEqual([webhook.kind, parentOf(webhook)], [CLIENT, change]);
    }
    for (const span of spans) {
      assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name);
      // A callback of the operator is a request of its own.
      if (span.kind === SERVER) assert.equal(span.parentSpanId, undefined);
      else assert.ok(parentOf(span), `${span.name} has a parent that came`);
    }
    assert.equal(collector.resource['service.name'], 'malipo');
  });

  it('has the decisions of people on a payout, each request beside the first', async () => {
    await fund(testEnv, testEnv.merchant, 50_000);
    const payout = await requestPayout(testEnv, '100');
    const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    const released = await release(approver, payout);
    await untilPayoutState(testEnv, payout, 'succeeded');
    const spans = await wholeTrace(payout.id, 'payoutWorkflow');
    const releasing = only(spans, 'POST /v1/console/payouts/{id}/release');
    assert.equal(releasing.parentSpanId, undefined);
    assert.equal(
      only(spans, 'payout released').attributes['malipo.by_request_id'],
      released.headers.get('malipo-request-id'),
    );
  });

  it('links to the trace that a caller names, and does not continue it: they could write into any', async () => {
    const traceparent = `00-${THEIR_TRACE.traceId}-${THEIR_TRACE.spanId}-01`;
    const { id } = await request({ traceparent });
    const server = only(await wholeTrace(id, 'POST /v1/api/collections'), 'POST /v1/api/collections');
    assert.deepEqual(
      server.links?.map(({ traceId, spanId }) => ({ traceId, spanId })),
      [THEIR_TRACE],
    );
    const { id: other } = await request({ traceparent: `${traceparent}, ${traceparent}` });
    assert.deepEqual(
      only(await wholeTrace(other, 'POST /v1/api/collections'), 'POST /v1/api/collections').links ?? [],
      [],
    );
  });

  it('is not joined by reads, nor by a request for the payment of another merchant', async () => {
    const { id } = await request();
    const { baseUrl } = testEnv;
    const stranger = await testEnv.addMerchant();
    const approver = await logInAs(testEnv, stranger.id, 'approver');
    const refused = await approver.call('POST', `/v1/console/payouts/${newId('pay')}/release`, { idempotencyKey: 'k' });
    const foreign = await approver.call('POST', `/v1/console/collections/${id}/reversal`, { idempotencyKey: 'k' });
    const read = await call(baseUrl, 'GET', `/v1/api/collections/${id}`, { key: testEnv.merchant.key });
    assert.deepEqual([refused.status, read.status], [404, 200]);
    assert.ok(foreign.status >= 400, foreign.text);
    for (const response of [foreign, read]) {
      const requestId = String(response.headers.get('malipo-request-id'));
      await eventually('the span of the request', () =>
        collector.spans.some(({ spanId }) => spanId === spanIdOf(requestId)),
      );
      const span = collector.spans.find(({ spanId }) => spanId === spanIdOf(requestId));
      assert.equal(span?.traceId, traceIdOf(requestId));
    }
  });

  it('has ids, codes and names of ours alone: no phone, amount, key, address or text of a merchant', async () => {
    const { id, phone } = await request();
    await untilAllReceived(testEnv, { id, merchant: testEnv.merchant });
    const spans = await wholeTrace(id, 'webhook collection.succeeded');
    const { merchant, receiver, sandbox } = testEnv;
    const text = JSON.stringify(spans);
    for (const part of [phone, 'Okello', merchant.key, receiver.url, sandbox.url, merchant.webhookSecret]) {
      assert.ok(!text.includes(part), part);
    }
    const keys = new Set(collector.spans.flatMap(({ attributes }) => Object.keys(attributes)));
    const known =
      /^(malipo\.(request_id|by_request_id|payment_id|merchant_id|operator|exchange\.(kind|result)|failure_code|state\.(from|to)|event_(id|type)|delivery_id|endpoint_id|attempt|delivery\.state)|http\.(request\.method|route|response\.status_code)|temporal\.run_id)$/;
    assert.deepEqual(
      [...keys].filter((key) => !known.test(key)),
      [],
    );
    for (const { attributes } of collector.spans) assert.ok(!Object.values(attributes).includes(90_417));
  });
});

describe('a collector that never answers', () => {
  const collector = useFixture(
    () => startCollector({ isMute: true }),
    (started) => started.stop(),
  );
  const testEnv = useTestEnvironment({ startsServer: false });

  it('delays no payment and no stop, and is reported at most once a minute', async () => {
    const { lines, log } = collectedLog('warn');
    const settings = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    };
    const server = await testEnv.startServer(settings, { log });
    const payments = await Promise.all(Array.from({ length: 10 }, () => pay(testEnv, '100')));
    for (const payment of payments) await untilState(testEnv, payment, 'succeeded');
    await eventually('the first export to be given up', () => lines.length > 0);
    await pay(testEnv, '100').then((payment) => untilAllReceived(testEnv, payment));
    await server.stop();
    assert.ok(collector.bodies.length > 1);
    const complaints = lines.filter(({ msg }) => msg.startsWith('spans could not be sent'));
    assert.deepEqual(valuesOf(complaints, 'level'), ['warn']);
  });
});
