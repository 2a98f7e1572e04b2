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
import { collectionOf, statusOf, directionsOf, type AdapterHarness } from '../directions.ts';

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

  type Seen = Readonly<Record<'requestsReceived' | 'promptsRaised' | 'transfersTaken', number>> & {
    readonly operatorReference: string;
    readonly originalReference: string | null;
  };

  async function listed(filter: string): Promise<readonly Seen[]> {
    return (await (await request(`${sandbox.url}/sandbox/transactions?${filter}`)).body.json()) as Seen[];
  }

  // A prompt is known by its account reference, a payout by our own, a refund by the prompt of its collection.
  async function transactionsOf(operatorReference: string): Promise<readonly Seen[]> {
    const collection = collectionOf(operatorReference);
    if (collection === undefined) {
      const references = [accountReferenceOf(operatorReference), operatorReference];
      return (await Promise.all(references.map((reference) => listed(`reference=${reference}`)))).flat();
    }
    const prompts = await listed(`reference=${accountReferenceOf(collection.reference)}`);
    const originals = new Set(prompts.map((prompt) => prompt.operatorReference));
    return (await listed('kind=refund')).filter(({ originalReference }) => originals.has(originalReference ?? ''));
  }

  async function seen(operatorReference: string): Promise<{ requestsReceived: number; timesAccepted: number }> {
    const counts = { requestsReceived: 0, timesAccepted: 0 };
    for (const { requestsReceived, promptsRaised, transfersTaken } of await transactionsOf(operatorReference)) {
      counts.requestsReceived += requestsReceived;
      counts.timesAccepted += promptsRaised + transfersTaken;
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
    messages(purpose, id, name) {
      const came = receiver.callbacks.filter(({ path }) => path.endsWith(`/${SEGMENTS[purpose]}/${id}`));
      const kind = name === 'refund' ? 'reversal' : name;
      return came.flatMap(({ body }) => operator.readMessage?.(purpose, body, kind) ?? []);
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
    const { collection: ofPrompts, payout: ofPayouts, refund: ofRefunds } = OPERATORS.daraja.capabilities;
    assert.deepEqual([ofPrompts.send, ofPrompts.status, ofPrompts.statusKey], ['once', 'sync', 'theirs']);
    assert.deepEqual([ofPayouts.send, ofPayouts.status, ofPayouts.statusKey], ['once', 'by_callback', 'ours']);
    assert.deepEqual([ofRefunds?.send, ofRefunds?.status, ofRefunds?.statusKey], ['once', 'by_callback', 'theirs']);
  });

  it('reports a payout as pending after a timeout, which is no verdict', async () => {
    const reference = randomUUID();
    await pay(reference, '010');
    const [late] = await until(
      () => harness.messages?.('timeout', reference, 'payout') ?? [],
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
