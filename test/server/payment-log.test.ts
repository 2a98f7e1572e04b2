// The log of a server through a stretch in which nothing goes wrong: nobody is alarmed, and each request finds its whole story.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { traceIdOf } from '../../src/domain/trace.ts';
import { call, collectionFields, type ApiResponse } from '../support/api.ts';
import { deliveriesOf } from '../support/deliveries.ts';
import { temporalClient } from '../support/engines.ts';
import { linesOf, type LogLine } from '../support/log-lines.ts';
import { fetchPayment, pay, phoneFor, untilState, type Payment } from '../support/payments.ts';
import { storedEvents } from '../support/payment-events.ts';
import { fund, release, releaseRefund, requestPayout, untilPayoutState, type Payout } from '../support/payouts.ts';
import { logInAs, PASSWORD } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { startServerChild, type ServerChild } from '../support/server-child.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { countRows } from '../db/rows.ts';

const PAID = 12;
const AMOUNT = 90_417;
const REFERENCE = 'Rent of Okello';
const CALM = new Set(['info', 'debug']);

describe('the log of a stretch without faults', () => {
  // A machine that stands still for a second is a fault, which this is not about.
  const testEnv = useTestEnvironment({
    startsServer: false,
    environment: {
      MALIPO_WORKFLOW_TASK_TIMEOUT_MS: '60000',
      MALIPO_PROMPT_WINDOW_MS: '120000',
      MALIPO_OPERATOR_TIMEOUT_MS: '30000',
      MALIPO_NOT_FOUND_GRACE_MS: '31000',
      // A status query by schedule that decides nothing has a line in the log, and no row.
      MALIPO_POLL_SCHEDULE_MS: '60000',
      MALIPO_DELIVERY_TIMEOUT_MS: '30000',
      MALIPO_STALE_AFTER_MS: '600000',
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'malipo-log-'));
  const logFile = join(folder, 'server.log');
  let server: ServerChild;
  let lines: LogLine[] = [];
  const payments: Payment[] = [];
  const ended: Payment[] = [];
  const phones: string[] = [];
  let payout: Payout;
  let requested: ApiResponse;
  let released: ApiResponse;
  let approver: Browser;

  before(async () => {
    server = await startServerChild(testEnv, { logFile, overrides: { MALIPO_LOG_LEVEL: 'info' } });
    await makePayments();
    await untilAllDelivered();
    await untilRunsEnd();
    assert.equal((await server.stop()).code, 0);
    lines = linesOf(logFile);
  });
  after(async () => {
    await server.kill();
    rmSync(folder, { recursive: true });
  });

  async function makePayments(): Promise<void> {
    const { baseUrl, merchant } = testEnv;
    await fund(testEnv, merchant, 1_000_000);
    const fields = { amount: AMOUNT, reference: REFERENCE };
    for (let n = 0; n < PAID; n++) payments.push(await pay(testEnv, ['100', '008', '012'][n % 3]!, { fields }));
    const declined = [await pay(testEnv, '001', { fields }), await pay(testEnv, '006', { fields })];
    approver = await logInAs(testEnv, merchant.id, 'approver');
    payout = await requestPayout(testEnv, '100', { amount: AMOUNT });
    const rejected = await requestPayout(testEnv, '100', { amount: AMOUNT });
    released = await release(approver, payout);
    assert.equal(released.status, 200, released.text);
    ended.push(...payments, ...declined, payout, rejected);
    await approver.call('POST', `/v1/console/payouts/${rejected.id}/reject`, { json: { reason: 'a mistake' } });
    const json = collectionFields({ phone: phoneFor('100'), ...fields });
    requested = await call(baseUrl, 'POST', '/v1/api/collections', { key: merchant.key, json });
    for (const each of payments) await untilState(testEnv, each, 'succeeded');
    for (const each of declined) await untilState(testEnv, each, 'failed');
    await untilPayoutState(testEnv, payout, 'succeeded');
    await refund(payments[0]!);
    // What people and programs get wrong is nobody's alarm.
    for (const wrong of [{ amount: 0 }, { phone: '12' }]) {
      const body = { ...collectionFields(fields), ...wrong };
      const refused = await call(baseUrl, 'POST', '/v1/api/collections', { key: merchant.key, json: body });
      assert.ok(refused.status >= 400 && refused.status < 500, refused.text);
    }
    assert.equal((await call(baseUrl, 'GET', '/v1/api/nothing')).status, 404);
    for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(new URL(path, baseUrl))).status, 200);
    phones.push(...ended.map(({ phone }) => phone), String(json['phone']));
  }

  async function refund({ id }: Payment): Promise<void> {
    const maker = await logInAs(testEnv, testEnv.merchant.id, 'maker');
    const path = `/v1/console/collections/${id}/reversal`;
    const reversal = await maker.call('POST', path, { idempotencyKey: randomUUID() });
    assert.equal(reversal.status, 202, reversal.text);
    const releasedToo = await releaseRefund(approver, String(reversal.json['id']));
    assert.equal(releasedToo.status, 200, releasedToo.text);
    await eventually('the refund', async () => (await fetchPayment(testEnv, payments[0]!)).state === 'reversed');
  }

  async function untilAllDelivered(): Promise<void> {
    await eventually('every event to be delivered', async () => {
      const deliveries = await deliveriesOf(testEnv.db, testEnv.merchant);
      return deliveries.length > 2 * PAID && deliveries.every(({ state }) => state === 'delivered');
    });
  }

  // A second callback makes one more query after the outcome. A stop in the middle of that query loses its record.
  async function untilRunsEnd(): Promise<void> {
    const { workflow } = await temporalClient();
    for (const { workflowId } of ended) await workflow.getHandle(workflowId).result();
  }

  const aboutPayment = (id: string) => lines.filter(({ paymentId }) => paymentId === id);
  const storyOf = (requestId: string) => lines.filter((line) => JSON.stringify(line).includes(requestId));
  const requestIdOf = (response: ApiResponse) => String(response.headers.get('malipo-request-id'));
  const count = (story: readonly LogLine[], message: string) => story.filter(({ msg }) => msg === message).length;

  it('has no line at warn or above', () => {
    assert.ok(lines.length > 10 * PAID, `${lines.length} lines`);
    assert.deepEqual(
      lines.filter(({ level }) => !CALM.has(level)),
      [],
    );
  });

  it('has nothing personal and nothing secret: no phone, amount, name, key or text of a merchant', () => {
    assert.ok(lines.length > 10 * PAID, `${lines.length} lines`);
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    const { merchant } = testEnv;
    const secrets = [
      merchant.key,
      merchant.key.slice(-6),
      merchant.webhookSecret,
      PASSWORD,
      approver.cookie.split('=')[1]!,
    ];
    const personal = [...phones, REFERENCE, 'Okello', 'INV-1', 'a mistake', '@', 'The approver', 'Test maker'];
    for (const part of [...secrets, ...personal, testEnv.receiver.url]) assert.ok(!text.includes(part), part);
    assert.doesNotMatch(text, new RegExp(`(?<![0-9a-z])${AMOUNT}(?![0-9a-z])`));
    for (const [digits] of text.matchAll(/\b256[0-9]{9}\b/g)) assert.fail(digits);
  });

  it('finds the whole story of a payment by the request that made it', async () => {
    const { id } = requested.json as { id: string };
    const story = storyOf(requestIdOf(requested));
    const [request, ...others] = story.filter(({ msg }) => msg === 'request');
    assert.deepEqual(others, []);
    const { method, route, status, merchantId, keyId, durationMs, level } = request!;
    assert.deepEqual(
      [level, method, route, status, merchantId, request!.paymentId],
      ['info', 'POST', '/v1/api/collections', 202, testEnv.merchant.id, id],
    );
    assert.match(String(keyId), /^key_/);
    assert.equal(typeof durationMs, 'number');
    const states = story.filter(({ msg }) => msg === 'payment changed state').map(({ from, to }) => [from, to]);
    assert.deepEqual(states, [
      [null, 'initiated'],
      ['initiated', 'prompted'],
      ['prompted', 'succeeded'],
    ]);
    const exchanges = story.filter(({ msg }) => msg === 'operator exchange');
    assert.deepEqual([exchanges[0]!['kind'], exchanges[0]!['result']], ['send', 'accepted']);
    assert.deepEqual([exchanges.at(-1)!['kind'], exchanges.at(-1)!['result']], ['status_query', 'succeeded']);
    assert.equal(count(story, 'webhook attempt'), (await storedEvents(testEnv.db, id)).length);
    for (const line of story) {
      assert.deepEqual([line.paymentId, line.traceId, line['merchantId']], [id, traceIdOf(id), testEnv.merchant.id]);
    }
  });

  it('finds a person’s decision by its request', () => {
    const story = storyOf(requestIdOf(released));
    const [request] = story.filter(({ msg }) => msg === 'request');
    assert.deepEqual([request!.paymentId, request!['route']], [payout.id, '/v1/console/payouts/{id}/release']);
    assert.match(String(request!['personId']), /^usr_/);
    assert.equal(request!['keyId'], undefined);
    const [change, ...others] = story.filter(({ msg }) => msg === 'payment changed state');
    assert.deepEqual([change!.paymentId, change!['from'], change!['to']], [payout.id, 'queued', 'released']);
    assert.notEqual(change!.requestId, requestIdOf(released));
    assert.deepEqual(others, []);
  });

  it('has one line for each request, state change, exchange with the operator and attempt', async () => {
    const { rows: events } = await testEnv.db.pool.query<{ id: string }>('SELECT id FROM events');
    const reported = lines.filter(({ msg }) => msg === 'payment changed state').flatMap(({ eventId }) => eventId ?? []);
    const ownEvents = events.filter(({ id }) => reported.includes(id));
    assert.equal(reported.length, new Set(reported).size);
    // The earlier money came by two events that no server of this log recorded.
    assert.equal(ownEvents.length, events.length - 2);
    const { rows } = await testEnv.db.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM operator_exchanges');
    assert.equal(count(lines, 'operator exchange'), rows[0]!.n);
    assert.equal(count(lines, 'webhook attempt'), await countRows(testEnv.db, 'delivery_attempts'));
    const requestIds = lines.filter(({ msg }) => msg === 'request').map(({ requestId }) => requestId);
    assert.equal(requestIds.length, new Set(requestIds).size);
    assert.deepEqual(
      lines.filter(({ msg, route }) => msg === 'request' && ['/healthz', '/readyz'].includes(String(route))),
      [],
    );
    for (const { id } of payments)
      assert.ok(aboutPayment(id).every(({ traceId, msg }) => msg === 'request' || traceId === traceIdOf(id)));
  });
});
