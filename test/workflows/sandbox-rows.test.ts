// Every row of the sandbox's table of behaviours, from the request to the last webhook.
import assert from 'node:assert/strict';
import type { CollectionState } from '../../src/domain/payments/collection.ts';
import { COLLECTION_BEHAVIOURS } from '../../src/sandbox/behaviours.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import {
  assertLedgerIsSound,
  availableBalance,
  pay,
  untilState,
  type Payment,
  type ShownCollection,
} from '../support/payments.ts';
import { decideAtSandbox, sandboxTransactions, type SandboxTransaction } from '../support/sandbox-operator.ts';
import { PAID_TRANSITIONS, transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { valuesOf } from '../support/values-of.ts';

type Row = {
  readonly row: string;
  readonly title: string;
  readonly state: CollectionState;
  readonly failure: string | null;
  readonly transitions: readonly string[];
  readonly callbacks: number;
};

const FAILED = ['initiated > prompted', 'prompted > failed'];
const succeeds = { state: 'succeeded', failure: null, transitions: PAID_TRANSITIONS } as const;
const fails = (failure: string) => ({ state: 'failed', failure, transitions: FAILED }) as const;

const ROWS: readonly Row[] = [
  { row: '001', title: 'fails when the payer cancels', ...fails('payer_cancelled'), callbacks: 1 },
  { row: '002', title: 'fails when the payer enters a wrong PIN', ...fails('wrong_pin'), callbacks: 1 },
  {
    row: '003',
    title: 'expires when the prompt times out at the operator',
    state: 'expired',
    failure: 'prompt_expired',
    transitions: ['initiated > prompted', 'prompted > expired'],
    callbacks: 1,
  },
  { row: '004', title: 'succeeds by polling when the callback is dropped', ...succeeds, callbacks: 0 },
  { row: '005', title: 'fails by polling when the callback is dropped', ...fails('payer_cancelled'), callbacks: 0 },
  { row: '006', title: 'fails when the payer has too little money', ...fails('insufficient_funds'), callbacks: 1 },
  { row: '007', title: 'fails when the payer has no account', ...fails('payer_not_found'), callbacks: 1 },
  { row: '008', title: 'succeeds once when the callback comes three times', ...succeeds, callbacks: 3 },
  {
    row: '009',
    title: 'succeeds late when the operator decides after the prompt window',
    state: 'succeeded',
    failure: null,
    transitions: ['initiated > prompted', 'prompted > reconciling', 'reconciling > succeeded late'],
    callbacks: 1,
  },
  {
    row: '010',
    title: 'expires as unknown, and does not fail, when the operator does not decide',
    state: 'expired',
    failure: 'unknown',
    transitions: ['initiated > prompted', 'prompted > reconciling', 'reconciling > expired'],
    callbacks: 0,
  },
  {
    row: '011',
    title: 'succeeds when the operator is unavailable for the first three tries',
    ...succeeds,
    callbacks: 1,
  },
  {
    row: '012',
    title: 'succeeds when the callback comes before the answer to the prompt request',
    ...succeeds,
    callbacks: 1,
  },
  {
    row: '013',
    title: 'fails when the callback says paid and the operator status does not',
    ...fails('payer_cancelled'),
    callbacks: 1,
  },
  {
    row: '014',
    title: 'succeeds when the connection drops before the answer to the prompt request',
    ...succeeds,
    callbacks: 1,
  },
  {
    row: '015',
    title: 'is reversed when the operator gives the money back',
    state: 'reversed',
    failure: null,
    transitions: [...PAID_TRANSITIONS, 'succeeded > reversed'],
    callbacks: 2,
  },
  { row: '016', title: 'succeeds when the operator throttles the first try', ...succeeds, callbacks: 1 },
  { row: '017', title: 'succeeds when the operator refuses the token of the first try', ...succeeds, callbacks: 1 },
  { row: '018', title: 'succeeds when answer and callback are lost', ...succeeds, callbacks: 0 },
  { row: '019', title: 'succeeds when the operator does not know it at first', ...succeeds, callbacks: 1 },
  { row: '099', title: 'succeeds when a person approves it at the handset', ...succeeds, callbacks: 1 },
  { row: '000', title: 'succeeds with any other phone', ...succeeds, callbacks: 1 },
];

type Outcome = {
  readonly shown: ShownCollection;
  readonly transitions: readonly string[];
  readonly balance: unknown;
  readonly transactions: readonly SandboxTransaction[];
};

describe('a collection at the sandbox operator', () => {
  // The prompt is open for longer than a busy machine stops for, except where its end is the point.
  const testEnv = useTestEnvironment({ environment: { MALIPO_PROMPT_WINDOW_MS: '120000' } });
  const closingEnv = useTestEnvironment({
    environment: { MALIPO_PROMPT_WINDOW_MS: '10000', MALIPO_RECONCILE_FOR_MS: '40000' },
    sandboxTimes: { undecidedMs: 20_000 },
  });
  const endingEnv = useTestEnvironment({
    environment: { MALIPO_PROMPT_WINDOW_MS: '10000', MALIPO_RECONCILE_FOR_MS: '8000' },
  });
  const envs: Readonly<Record<string, TestEnvironment>> = { '003': closingEnv, '009': closingEnv, '010': endingEnv };
  const envOf = (row: string) => envs[row] ?? testEnv;
  const payments = new Map<string, Promise<Payment>>();

  // All collections at once, because most of their time is waiting.
  before(async () => {
    for (const { row } of ROWS) {
      payments.set(
        row,
        envOf(row)
          .addMerchant()
          .then((merchant) => pay(envOf(row), row, { merchant })),
      );
    }
    await Promise.all(payments.values());
    const { phone, operatorReference: reference } = await payments.get('099')!;
    await eventually('the prompt', async () => (await sandboxTransactions(testEnv, phone)).length > 0);
    await decideAtSandbox(testEnv, 'handset', { reference, choice: 'approve', pin: '1234' });
  });

  async function outcomeOf({ row, state, callbacks }: Row): Promise<Outcome> {
    const payment = await payments.get(row)!;
    const at = envOf(row);
    const shown = await untilState(at, payment, state);
    return {
      shown,
      transitions: transitionsOf(await untilAllReceived(at, payment)),
      balance: await availableBalance(at, payment.merchant),
      transactions: await callbacksSent(at, payment, callbacks),
    };
  }

  // The sandbox counts a callback when it has the response, which may be after the payment is final.
  async function callbacksSent(at: TestEnvironment, { phone }: Payment, count: number): Promise<SandboxTransaction[]> {
    return eventually(`${count} callbacks`, async () => {
      const transactions = await sandboxTransactions(at, phone);
      return transactions[0]?.callbacksSent === count && transactions;
    });
  }

  for (const row of ROWS) {
    it(`${row.title} (${row.row})`, async () => {
      const { shown, transitions, balance, transactions } = await outcomeOf(row);
      assert.equal(shown.failure?.code ?? null, row.failure);
      assert.deepEqual(transitions, row.transitions);
      assert.equal(balance, row.state === 'succeeded' ? shown['amount'] : 0);
      assert.deepEqual(valuesOf(transactions, 'promptsRaised'), [1]);
    });
  }

  it('leaves a ledger that adds up, whatever its outcome', async () => {
    await Promise.all(ROWS.map(outcomeOf));
    for (const { db } of [testEnv, closingEnv, endingEnv]) await assertLedgerIsSound(db);
  });

  it('is tested with every row of the table', () => {
    const tried = new Set(valuesOf(ROWS, 'row'));
    const untried = [...COLLECTION_BEHAVIOURS.keys()].filter((row) => !tried.has(row));
    assert.deepEqual(untried, []);
  });
});
