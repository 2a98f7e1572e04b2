// The Daraja adapter against the sandbox operator over real HTTP: each row is sent at most once, by the sandbox's own counter, and is
// found out by the query of a prompt, or by the messages about a payout.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { OPERATORS, type MessagePurpose } from '../../../src/domain/payments/operator-catalogue.ts';
import { accountReferenceOf } from '../../../src/operators/daraja/account-reference.ts';
import { createDaraja } from '../../../src/operators/daraja/daraja.ts';
import type { Operator, OperatorMessage, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import {
  DARAJA,
  setFaults,
  SHORT_TIMES,
  startReceiver,
  startTestSandbox,
  until,
  type Receiver,
} from '../../sandbox/sandbox-harness.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { sentAs } from '../../support/sent-payment.ts';

const { collection: OF_PROMPTS, payout: OF_PAYOUTS } = OPERATORS.daraja.capabilities;
const MONEY = { amountMinor: 150_000n, currency: 'KES' } as const;
/** Daraja refuses addresses with the word `query`. */
const SEGMENTS: Readonly<Record<MessagePurpose, string>> = { result: 'result', timeout: 'timeout', query: 'status' };

type Fixture = { sandbox: { readonly url: string; stop(): Promise<void> }; receiver: Receiver; operator: Operator };

async function start(): Promise<Fixture> {
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
  return { sandbox, receiver, operator };
}

describe('M-Pesa as an operator', () => {
  let fixture: Fixture;

  before(async () => {
    fixture = await start();
  });
  after(async () => {
    await fixture.operator.close();
    await fixture.sandbox.stop();
    await fixture.receiver.stop();
  });
  afterEach(() => setFaults(fixture.sandbox, {}));

  const phone = (row: string) => `254712345${row}`;

  /** What came to the address of this purpose, oldest first, as the adapter reads it. */
  function messages(purpose: MessagePurpose, id: string): OperatorMessage[] {
    const { operator, receiver } = fixture;
    const came = receiver.callbacks.filter(({ path }) => path.endsWith(`/${SEGMENTS[purpose]}/${id}`));
    return came.flatMap(({ body }) => operator.readMessage?.(purpose, body) ?? []);
  }

  async function timesAccepted(reference: string): Promise<number> {
    const response = await request(`${fixture.sandbox.url}/sandbox/transactions?reference=${reference}`);
    const seen = (await response.body.json()) as { promptsRaised?: number; transfersTaken?: number }[];
    return seen.reduce((sum, { promptsRaised = 0, transfersTaken = 0 }) => sum + promptsRaised + transfersTaken, 0);
  }

  /** Sends as the service may: again only after an outcome that says that nothing was done. */
  async function sendAsAllowed(send: () => Promise<SendOutcome>): Promise<SendOutcome> {
    for (let tries = 1; ; tries++) {
      const outcome = await send();
      if (outcome.kind !== 'unknown' || outcome.isUnprocessed !== true || tries === 5) return outcome;
    }
  }

  it('is one whose sends are made once', () => {
    assert.deepEqual([OF_PROMPTS.send, OF_PROMPTS.status, OF_PROMPTS.statusKey], ['once', 'sync', 'theirs']);
    assert.deepEqual([OF_PAYOUTS.send, OF_PAYOUTS.status, OF_PAYOUTS.statusKey], ['once', 'by_callback', 'ours']);
  });

  describe('for a collection', () => {
    /** Null: nobody can ask, or nothing was accepted. */
    type Row = readonly [
      row: string,
      send: 'accepted' | 'unknown',
      accepted: number,
      outcome: string | null,
      callbacks: number,
    ];
    const rows: readonly Row[] = [
      ['001', 'accepted', 1, 'payer_cancelled', 1],
      ['002', 'accepted', 1, 'wrong_pin', 1],
      ['003', 'accepted', 1, 'prompt_expired', 1],
      ['004', 'accepted', 1, 'succeeded', 0],
      ['005', 'accepted', 1, 'payer_cancelled', 0],
      ['006', 'accepted', 1, 'insufficient_funds', 1],
      ['007', 'accepted', 1, 'operator_rejected', 1],
      ['008', 'accepted', 1, 'succeeded', 3],
      ['009', 'accepted', 1, 'succeeded', 1],
      // It may have been processed, by all that the answer says.
      ['011', 'unknown', 0, null, 0],
      ['012', 'accepted', 1, 'succeeded', 1],
      ['013', 'accepted', 1, 'payer_cancelled', 1],
      ['014', 'unknown', 1, 'succeeded', 1],
      ['016', 'accepted', 1, 'succeeded', 1],
      ['017', 'accepted', 1, 'succeeded', 1],
      ['018', 'unknown', 1, 'succeeded', 0],
      ['019', 'accepted', 1, 'succeeded', 1],
      ['500', 'accepted', 1, 'succeeded', 1],
    ];

    const prompt = (reference: string, row: string) =>
      sendAsAllowed(() =>
        fixture.operator.raisePrompt({
          operatorReference: reference,
          phone: phone(row),
          money: MONEY,
          payerMessage: "Amina's order & <more>",
        }),
      );
    const statusOf = (reference: string, issuedId: string | null) =>
      fixture.operator.getCollectionStatus({ ...sentAs(reference), issuedId, sentAt: new Date() });

    for (const [row, send, accepted, outcome, callbacks] of rows) {
      it(`reports the outcome of row ${row}: ${outcome ?? 'unknown'}`, async () => {
        const reference = randomUUID();
        const sent = await prompt(reference, row);
        assert.equal(sent.kind, send, JSON.stringify(sent));
        assert.equal(await timesAccepted(accountReferenceOf(reference)), accepted);
        const came = await until(
          () => messages('result', reference),
          ({ length }) => length >= callbacks,
        );
        assert.equal(came.length, callbacks);
        const issuedId = sent.kind === 'accepted' ? (sent.issuedId ?? null) : null;
        if (issuedId !== null) for (const message of came) assert.equal(message.issuedId, issuedId);
        const isOpen = ({ kind }: StatusOutcome) => kind === 'pending' || kind === 'unknown';
        const status = await (outcome === null
          ? statusOf(reference, issuedId)
          : until(
              () => statusOf(reference, issuedId),
              (now) => !isOpen(now),
            ));
        assert.equal(status.kind === 'failed' ? status.code : status.kind, outcome ?? 'unknown');
        if (status.kind !== 'succeeded') return;
        const told = came.map((message) => message.status);
        // Where the response was lost, only the list of what was paid shows it, as the messages do.
        if (issuedId === null) told.push(status);
        else assert.deepEqual(status, { kind: 'succeeded', receipt: null });
        for (const one of told) {
          assert.ok(one.kind === 'succeeded' && one.receipt !== null);
          assert.deepEqual(one.paid, { amount: '1500', currency: 'KES' });
          assert.equal(one.phone, phone(row));
        }
      });
    }

    it('reports row 010 as pending', async () => {
      const reference = randomUUID();
      const sent = await prompt(reference, '010');
      assert.ok(sent.kind === 'accepted' && sent.issuedId !== undefined);
      assert.deepEqual(await statusOf(reference, sent.issuedId), { kind: 'pending' });
    });

    it('says nothing of an id that does not exist', async () => {
      assert.equal((await statusOf(randomUUID(), 'ws_CO_27112026114502712345678')).kind, 'unknown');
    });
  });

  describe('for a payout', () => {
    /** `result`: what the first message to the address of the payout says; null: none comes. `answer`: what a status query says at last. */
    type Row = readonly [
      row: string,
      send: 'accepted' | 'unknown',
      accepted: number,
      result: string | null,
      answer: string,
    ];
    const rows: readonly Row[] = [
      ['001', 'accepted', 1, 'payer_not_found', 'operator_rejected'],
      ['002', 'accepted', 1, 'payer_limit_reached', 'operator_rejected'],
      ['003', 'accepted', 1, 'operator_unavailable', 'operator_rejected'],
      ['004', 'accepted', 1, null, 'succeeded'],
      ['005', 'accepted', 1, null, 'operator_rejected'],
      ['006', 'accepted', 1, 'payer_not_found', 'operator_rejected'],
      ['008', 'accepted', 1, 'succeeded', 'succeeded'],
      ['009', 'accepted', 1, 'succeeded', 'succeeded'],
      ['011', 'unknown', 0, null, 'unknown'],
      ['012', 'accepted', 1, 'succeeded', 'succeeded'],
      ['013', 'accepted', 1, 'succeeded', 'operator_rejected'],
      ['014', 'unknown', 1, 'succeeded', 'succeeded'],
      ['015', 'accepted', 1, 'succeeded', 'returned'],
      ['016', 'accepted', 1, 'succeeded', 'succeeded'],
      ['017', 'accepted', 1, 'succeeded', 'succeeded'],
      ['018', 'unknown', 1, null, 'succeeded'],
      ['019', 'accepted', 1, 'succeeded', 'succeeded'],
      ['500', 'accepted', 1, 'succeeded', 'succeeded'],
    ];
    const said = (status: StatusOutcome | undefined) => (status?.kind === 'failed' ? status.code : status?.kind);

    const pay = (reference: string, row: string) =>
      sendAsAllowed(() =>
        fixture.operator.sendPayout({
          operatorReference: reference,
          phone: phone(row),
          money: MONEY,
          payeeMessage: "Amina's wages & more",
        }),
      );

    /** The message that answers a query of its own. */
    async function ask(reference: string): Promise<OperatorMessage> {
      const queryId = randomUUID();
      const asked = await fixture.operator.getPayoutStatus({ ...sentAs(reference), queryId });
      assert.deepEqual(asked, { kind: 'asked' });
      const [answer] = await until(
        () => messages('query', queryId),
        ({ length }) => length > 0,
      );
      assert.ok(answer !== undefined, 'no answer came');
      return answer;
    }

    for (const [row, send, accepted, result, answer] of rows) {
      it(`reports row ${row}: ${answer}, after the message ${result ?? 'that never comes'}`, async () => {
        const reference = randomUUID();
        const sent = await pay(reference, row);
        assert.equal(sent.kind, send, JSON.stringify(sent));
        assert.equal(await timesAccepted(reference), accepted);
        if (result !== null) {
          const [first] = await until(
            () => messages('result', reference),
            ({ length }) => length > 0,
          );
          assert.equal(first?.operatorReference, reference);
          assert.equal(said(first.status), result);
          if (sent.kind === 'accepted') assert.equal(first.issuedId, sent.issuedId);
        }
        const last = await until(
          () => ask(reference),
          ({ status }) => said(status) === answer,
        );
        assert.equal(said(last.status), answer);
        if (answer === 'unknown') return;
        assert.equal(last.operatorReference, reference);
        if (last.status.kind !== 'succeeded') return;
        assert.deepEqual(last.status.paid, { amount: '1500', currency: 'KES' });
        assert.equal(last.status.phone, phone(row));
      });
    }

    it('reports row 010 as pending after a timeout, which is no verdict', async () => {
      const reference = randomUUID();
      await pay(reference, '010');
      const [late] = await until(
        () => messages('timeout', reference),
        ({ length }) => length > 0,
      );
      assert.equal(late?.status.kind, 'unknown');
      assert.equal(late.operatorReference, reference);
      assert.equal((await ask(reference)).status.kind, 'pending');
    });

    it('is accepted once, also where the same payout is sent again', async () => {
      const reference = randomUUID();
      assert.equal((await pay(reference, '500')).kind, 'accepted');
      const repeated = await pay(reference, '500');
      assert.ok(repeated.kind === 'unknown' && repeated.isUnprocessed === undefined, JSON.stringify(repeated));
      assert.equal(await timesAccepted(reference), 1);
    });
  });

  it('fails nothing while it is down, throttles us or refuses our account', async () => {
    for (const faults of [{ down: true }, { errorRate: 1 }, { throttled: true }, { accountRefused: true }]) {
      await setFaults(fixture.sandbox, faults);
      const payment = { operatorReference: randomUUID(), phone: phone('500'), money: MONEY };
      const outcomes = [
        await fixture.operator.raisePrompt({ ...payment, payerMessage: 'x' }),
        await fixture.operator.sendPayout({ ...payment, payeeMessage: 'x' }),
        await fixture.operator.getCollectionStatus({ ...sentAs(payment.operatorReference), issuedId: 'ws_CO_1' }),
        await fixture.operator.getPayoutStatus({ ...sentAs(payment.operatorReference), queryId: randomUUID() }),
      ];
      for (const outcome of outcomes) assert.equal(outcome.kind, 'unknown', JSON.stringify([faults, outcome]));
    }
  });

  it('knows the first name of a payee, and nothing of somebody without a wallet', async () => {
    const named = await fixture.operator.getPayeeName?.(phone('500'));
    assert.match(named?.kind === 'named' ? named.name : '', /^[A-Z]+ [A-Z]\*+$/);
    assert.equal((await fixture.operator.getPayeeName?.(phone('001')))?.kind, 'unknown');
  });
});
