// What every adapter must do, whatever its wire: one suite, run against each adapter and a real sandbox operator.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { FailureCode } from '../../src/domain/failure.ts';
import type { Money } from '../../src/domain/money.ts';
import { isPaidAsAsked } from '../../src/operators/paid-money.ts';
import type { Operator, SendOutcome, StatusOutcome } from '../../src/operators/port.ts';
import { until } from '../sandbox/sandbox-world.ts';

/** An adapter with its sandbox operator behind it. */
export type AdapterWorld = {
  readonly operator: Operator;
  readonly money: Money;
  readonly phone: (ending: string) => string;
  /** Bodies of the callbacks that came, oldest first. */
  readonly callbacks: readonly unknown[];
  /** What the operator itself counted. */
  seen(operatorReference: string): Promise<{ requestsReceived: number; promptsRaised: number }>;
  setFaults(faults: Record<string, unknown>): Promise<void>;
  /** How long the sandbox holds what it leaves undecided, and how long a client waits for a prompt. */
  readonly undecidedMs: number;
  readonly promptExpiryMs: number;
  stop(): Promise<void>;
};

type Row = { row: string; sends: SendOutcome['kind'][]; ends: 'succeeded' | FailureCode; callbacks: number };

const ROWS: Row[] = [
  { row: '001', sends: ['accepted'], ends: 'payer_cancelled', callbacks: 1 },
  { row: '002', sends: ['accepted'], ends: 'wrong_pin', callbacks: 1 },
  { row: '003', sends: ['accepted'], ends: 'prompt_expired', callbacks: 1 },
  { row: '004', sends: ['accepted'], ends: 'succeeded', callbacks: 0 },
  { row: '005', sends: ['accepted'], ends: 'payer_cancelled', callbacks: 0 },
  { row: '006', sends: ['accepted'], ends: 'insufficient_funds', callbacks: 1 },
  { row: '007', sends: ['accepted'], ends: 'payer_not_found', callbacks: 1 },
  { row: '008', sends: ['accepted'], ends: 'succeeded', callbacks: 3 },
  { row: '009', sends: ['accepted'], ends: 'succeeded', callbacks: 1 },
  { row: '011', sends: ['unknown', 'unknown', 'unknown', 'accepted'], ends: 'succeeded', callbacks: 1 },
  { row: '012', sends: ['accepted'], ends: 'succeeded', callbacks: 1 },
  { row: '013', sends: ['accepted'], ends: 'payer_cancelled', callbacks: 1 },
  { row: '014', sends: ['unknown', 'accepted'], ends: 'succeeded', callbacks: 1 },
  { row: '500', sends: ['accepted'], ends: 'succeeded', callbacks: 1 },
];

export function conformsToThePort(name: string, start: () => Promise<AdapterWorld>): void {
  describe(`${name} as an operator`, () => {
    let world: AdapterWorld;

    before(async () => {
      world = await start();
    });

    after(() => world.stop());

    endsEachRowRightly(() => world);
    isSafeToAskAgain(() => world);
    survivesFaults(() => world);

    it('can be closed twice, and answers unknown afterwards', async () => {
      const other = await start();
      await other.operator.close();
      await other.operator.close();
      assert.equal((await other.operator.getCollectionStatus(randomUUID())).kind, 'unknown');
      await other.stop();
    });
  });
}

function endsEachRowRightly(world: () => AdapterWorld): void {
  for (const { row, sends, ends, callbacks } of ROWS) {
    it(`learns how a payment of row ${row} ends: ${ends}`, async () => {
      const reference = randomUUID();
      for (const kind of sends) assert.equal((await send(world(), row, reference)).kind, kind);
      const outcome = await final(world(), reference);
      if (ends === 'succeeded') {
        assert.ok(outcome.kind === 'succeeded', JSON.stringify(outcome));
        assert.ok(outcome.receipt.length > 0);
        assert.ok(isPaidAsAsked(outcome.paid, world().money));
      } else {
        assert.ok(outcome.kind === 'failed', JSON.stringify(outcome));
        assert.equal(outcome.code, ends);
      }
      const called = await until(
        () => callbacksOf(world(), reference),
        (count) => count >= callbacks,
      );
      assert.equal(called, callbacks);
      assert.deepEqual(await world().seen(reference), { requestsReceived: sends.length, promptsRaised: 1 });
    });
  }

  it('finds row 009 pending past the prompt window', async () => {
    const reference = randomUUID();
    await send(world(), '009', reference);
    await sleep(world().promptExpiryMs + 10);
    assert.deepEqual(await world().operator.getCollectionStatus(reference), { kind: 'pending' });
  });

  it('finds row 010 pending for as long as it asks', async () => {
    const reference = randomUUID();
    assert.deepEqual(await send(world(), '010', reference), { kind: 'accepted' });
    await sleep(world().undecidedMs + 20);
    assert.deepEqual(await world().operator.getCollectionStatus(reference), { kind: 'pending' });
  });

  it('finds no payment for row 011 while it is turned away', async () => {
    const reference = randomUUID();
    await send(world(), '011', reference);
    assert.deepEqual(await world().operator.getCollectionStatus(reference), { kind: 'not_found' });
  });

  it('has the callback of row 012 before the answer to the send', async () => {
    const reference = randomUUID();
    await send(world(), '012', reference);
    assert.equal(callbacksOf(world(), reference), 1);
  });
}

function isSafeToAskAgain(world: () => AdapterWorld): void {
  it('raises one prompt for one reference, however often and at once it is sent', async () => {
    const reference = randomUUID();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => send(world(), '500', reference)));
    outcomes.push(await send(world(), '500', reference));
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      Array.from({ length: 6 }, () => 'accepted'),
    );
    assert.deepEqual(await world().seen(reference), { requestsReceived: 6, promptsRaised: 1 });
  });

  it('says not_found of a reference that the operator never saw', async () => {
    assert.deepEqual(await world().operator.getCollectionStatus(randomUUID()), { kind: 'not_found' });
  });

  it('reads no reference out of a callback that names none, and never throws over one', () => {
    const { operator } = world();
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (body) => {
        assert.equal(operator.parseCallback(body), null);
      }),
    );
  });
}

function survivesFaults(world: () => AdapterWorld): void {
  const faults = [
    ['cannot be reached', { down: true }],
    ['answers errors only', { errorRate: 1 }],
    ['does not answer in time', { latencyMs: 60_000 }],
  ] as const;

  afterEach(() => world().setFaults({}));

  for (const [what, switches] of faults) {
    it(`answers unknown to everything while the operator ${what}, and recovers`, async () => {
      const reference = randomUUID();
      await send(world(), '500', reference);
      await world().setFaults(switches);
      assert.equal((await send(world(), '500', randomUUID())).kind, 'unknown');
      assert.equal((await world().operator.getCollectionStatus(reference)).kind, 'unknown');
      await world().setFaults({});
      assert.equal((await final(world(), reference)).kind, 'succeeded');
    });
  }
}

function send({ operator, money, phone }: AdapterWorld, row: string, operatorReference: string): Promise<SendOutcome> {
  return operator.raisePrompt({ operatorReference, phone: phone(row), money, payerMessage: "Amina's order" });
}

function final({ operator }: AdapterWorld, operatorReference: string): Promise<StatusOutcome> {
  return until(
    () => operator.getCollectionStatus(operatorReference),
    ({ kind }) => kind !== 'pending',
  );
}

function callbacksOf({ operator, callbacks }: AdapterWorld, operatorReference: string): number {
  return callbacks.filter((body) => operator.parseCallback(body)?.operatorReference === operatorReference).length;
}
