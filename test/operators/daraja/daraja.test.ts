// The conformance suite with the Daraja adapter, against the sandbox operator over real HTTP; and what only M-Pesa says.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { OPERATORS, type MessagePurpose } from '../../../src/domain/payments/operator-catalogue.ts';
import { accountReferenceOf } from '../../../src/operators/daraja/account-reference.ts';
import { createDaraja } from '../../../src/operators/daraja/daraja.ts';
import {
  DARAJA,
  setFaults,
  SHORT_TIMES,
  startReceiver,
  startTestSandbox,
  until,
} from '../../sandbox/sandbox-harness.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { conformsToThePort } from '../conformance.ts';
import { statusOf, directionsOf, type AdapterHarness } from '../directions.ts';

/** Daraja refuses addresses with the word `query`. */
const SEGMENTS: Readonly<Record<MessagePurpose, string>> = { result: 'result', timeout: 'timeout', query: 'status' };

conformsToThePort('daraja', startHarness);

async function startHarness(): Promise<AdapterHarness> {
  const receiver = await startReceiver();
  const sandbox = await startTestSandbox({ daraja: DARAJA, times: { ...SHORT_TIMES, reversalMs: 700 } });
  const certificate = await (await request(`${sandbox.url}/sandbox/daraja/certificate`)).body.text();
  const { consumerKey, consumerSecret, ...party } = DARAJA;
  const operator = createDaraja({
    ...party,
    baseUrl: sandbox.url,
    credentials: { consumerKey, consumerSecret },
    certificate,
    addressOf: (purpose, reference, queryId) => `${receiver.url}/${SEGMENTS[purpose]}/${queryId ?? reference}`,
    requestTimeoutMs: 3000,
    connections: 4,
    tokens: ownTokens(),
  });

  // A prompt is known by its account reference, a payout by our own.
  async function seen(operatorReference: string): Promise<{ requestsReceived: number; timesAccepted: number }> {
    const counts = { requestsReceived: 0, timesAccepted: 0 };
    for (const reference of [accountReferenceOf(operatorReference), operatorReference]) {
      const response = await request(`${sandbox.url}/sandbox/transactions?reference=${reference}`);
      for (const one of (await response.body.json()) as Record<string, number>[]) {
        counts.requestsReceived += one['requestsReceived'] ?? 0;
        counts.timesAccepted += (one['promptsRaised'] ?? 0) + (one['transfersTaken'] ?? 0);
      }
    }
    return counts;
  }

  return {
    operator,
    money: { amountMinor: 150_000n, currency: 'KES' },
    phone: (ending) => `254712345${ending}`,
    get callbacks() {
      return receiver.callbacks.map(({ body }) => body);
    },
    messages(purpose, id) {
      const came = receiver.callbacks.filter(({ path }) => path.endsWith(`/${SEGMENTS[purpose]}/${id}`));
      return came.flatMap(({ body }) => operator.readMessage?.(purpose, body) ?? []);
    },
    seen,
    setFaults: (faults) => setFaults(sandbox, faults),
    undecidedMs: SHORT_TIMES.undecidedMs,
    promptExpiryMs: SHORT_TIMES.promptExpiryMs,
    async stop() {
      await operator.close();
      await sandbox.stop();
      await receiver.stop();
    },
  };
}

describe('M-Pesa alone', () => {
  const payout = directionsOf('daraja').find(({ name }) => name === 'payout')!;
  let harness: AdapterHarness;

  before(async () => {
    harness = await startHarness();
  });
  after(() => harness.stop());

  const pay = async (reference: string, row: string) => (await payout.prepare(harness, row))(reference);

  it('is an operator whose sends are made once', () => {
    const { collection: ofPrompts, payout: ofPayouts } = OPERATORS.daraja.capabilities;
    assert.deepEqual([ofPrompts.send, ofPrompts.status, ofPrompts.statusKey], ['once', 'sync', 'theirs']);
    assert.deepEqual([ofPayouts.send, ofPayouts.status, ofPayouts.statusKey], ['once', 'by_callback', 'ours']);
  });

  it('reports a payout as pending after a timeout, which is no verdict', async () => {
    const reference = randomUUID();
    await pay(reference, '010');
    const [late] = await until(
      () => harness.messages?.('timeout', reference) ?? [],
      ({ length }) => length > 0,
    );
    assert.equal(late?.status.kind, 'unknown');
    assert.equal(late.operatorReference, reference);
    assert.equal((await statusOf(payout, harness, reference)).kind, 'pending');
  });

  it('takes a payout once, also where the same payout is sent again', async () => {
    const reference = randomUUID();
    assert.equal((await pay(reference, '500')).kind, 'accepted');
    const repeated = await pay(reference, '500');
    assert.ok(repeated.kind === 'unknown' && repeated.isUnprocessed === undefined, JSON.stringify(repeated));
    assert.deepEqual(await harness.seen(reference), { requestsReceived: 2, timesAccepted: 1 });
  });
});
