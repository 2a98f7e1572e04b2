// One payment, in a thousand random histories of faults, deaths of processes, repeated activities and clocks that differ, on a model clock.
//
// The decisions are the domain's own functions: transitions, lifecycles, evidence, schedules, rechecks, what an answer of the operator says,
// and what follows from a float that is too low. Modelled here are the statements of the database with the conditions of their SQL
// (model/store.ts), the order of the steps in the workflow, the activities and the queue, with a wait at which a process may die between
// any two (model/service.ts), and the operator's memory (model/operator.ts). Clocks differ by 10 s from the database's, a process stops for 3 s between two steps, and no request arrives
// after the timeout of its call: together less than `notFoundGraceMs`, on which the service relies. Not modelled: other money than
// requested, returns, people.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { REAL_CLOCKS } from '../../src/domain/clocks.ts';
import { isFinal } from '../../src/domain/payments/payment.ts';
import { generationOf } from '../../src/domain/payments/send-generation.ts';
import { AT, collectionWith } from '../domain/payments/collections.ts';
import { payoutWith } from '../domain/payments/payouts.ts';
import { reversalWith } from '../domain/payments/reversals.ts';
import { createModelOperator, type ModelOperator, type OperatorPlan } from './model/operator.ts';
import { createScheduler, randomFrom, type Work } from './model/scheduler.ts';
import { createModelService } from './model/service.ts';
import { createModelStore, type ModelPayment, type ModelStore } from './model/store.ts';

const RUNS = 1000;
const SEED = Number(process.env['MALIPO_PROPERTY_SEED'] ?? Date.now() % 2 ** 31);

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Longer than anything is waited for, the last recheck included. */
const END_MS = 12 * DAY;

const rate = fc.constantFrom(0, 0, 0.05, 0.3, 0.7);
/** Each is over long before the last recheck. */
const outage = fc.record({
  fromMs: fc.integer({ min: 0, max: 2 * DAY }),
  forMs: fc.constantFrom(60_000, HOUR, 12 * HOUR),
});

const anyPlan: fc.Arbitrary<Omit<OperatorPlan, 'saysOnlyPaid'>> = fc.record({
  send: fc.constantFrom('idempotent', 'once'),
  ending: fc.constantFrom('paid', 'paid', 'declined', 'expired', 'expired_then_paid', 'undecided'),
  decidesAfterMs: fc.constantFrom(SECOND, 30 * SECOND, 10 * 60 * SECOND, 2 * HOUR),
  lagMs: fc.constantFrom(0, 0, 5 * SECOND, HOUR),
  outages: fc.array(fc.oneof(outage, fc.constant({ fromMs: 0, forMs: 60_000 })), { maxLength: 3 }),
  floatLowForMs: fc.constantFrom(0, 60_000, HOUR, HOUR, 30 * HOUR),
  rates: fc.record({ requestLost: rate, responseLost: rate, useless: rate, refused: fc.constantFrom(0, 0, 0.3, 0.6) }),
  networkMs: fc.constantFrom(50, 19 * SECOND),
});

const anyScenario = fc.record({
  kind: fc.constantFrom('collection', 'payout', 'payout', 'reversal'),
  plan: anyPlan,
  /** Of payouts: a setting, and the shorter it is, the sooner an operator’s “not found” counts. */
  sendDeadlineMs: fc.constantFrom(600 * SECOND, REAL_CLOCKS.payoutSendDeadlineMs),
  /** What happens when. */
  entropy: fc.integer({ min: 0, max: 2 ** 31 }),
  skewsMs: fc.array(fc.integer({ min: -10 * SECOND, max: 10 * SECOND }), { minLength: 1, maxLength: 3 }),
  pauseMs: fc.constantFrom(5, 3 * SECOND),
  deathRate: fc.constantFrom(0, 0.02, 0.2),
  /** How many runs of the workflow there are at once: a run that is lost may go on beside the one that replaces it. */
  workflows: fc.constantFrom(1, 1, 2, 3),
  callbacksAtMs: fc.array(fc.integer({ min: 0, max: 3 * HOUR }), { maxLength: 4 }),
});

type Scenario = typeof anyScenario extends fc.Arbitrary<infer Value> ? Value : never;
type Ended = { readonly store: ModelStore; readonly operator: ModelOperator };

/** Nobody is asked for money out, so none expires. */
function endingOf(kind: Scenario['kind'], { ending }: Scenario['plan']): OperatorPlan['ending'] {
  if (kind === 'collection' || !ending.startsWith('expired')) return ending;
  return ending === 'expired' ? 'declined' : 'paid';
}

/** Whether it is a refund that shows only as the return of its collection. */
function isOfCollection({ kind, plan }: Scenario): boolean {
  return kind === 'reversal' && plan.send === 'once';
}

function newPayment({ kind, plan, sendDeadlineMs }: Scenario): ModelPayment {
  const sendsOnce = plan.send === 'once';
  if (kind === 'collection')
    return collectionWith({ sendsOnce, promptDeadlineAt: after(REAL_CLOCKS.promptDeadlineMs) });
  const released = { sendsOnce, state: 'released', sendDeadlineAt: after(sendDeadlineMs) } as const;
  // Where a refund is sent once, its statuses name no receipt.
  return kind === 'payout' ? payoutWith(released) : reversalWith({ ...released, receiptFollows: sendsOnce });
}

function after(ms: number): Date {
  return new Date(AT.getTime() + ms);
}

function happen(scenario: Scenario): Ended {
  const { kind, plan, entropy, deathRate, workflows, callbacksAtMs } = scenario;
  const random = randomFrom(entropy);
  const deaths = { rate: deathRate, most: 20, restartMs: 10 * 60 * SECOND };
  const scheduler = createScheduler({ random, ...deaths });
  const nowMs = () => AT.getTime() + scheduler.nowMs();
  const clocks = REAL_CLOCKS;
  const store = createModelStore(newPayment(scenario), clocks, nowMs);
  const timing = { nowMs: () => scheduler.nowMs(), random, timeoutMs: clocks.operatorTimeoutMs };
  const floatLowForMs = kind === 'payout' ? plan.floatLowForMs : 0;
  const saysOnlyPaid = isOfCollection(scenario);
  const operator = createModelOperator({ ...plan, saysOnlyPaid, floatLowForMs, ending: endingOf(kind, plan) }, timing);
  const service = createModelService({ ...scenario, store, operator, clocks, nowMs, random });
  for (let n = 0; n < workflows; n++) scheduler.start(() => service.workflow());
  scheduler.start(() => service.queue());
  for (const atMs of callbacksAtMs) scheduler.start(() => calledBack(atMs));
  scheduler.runUntil(END_MS);
  return { store, operator };

  function* calledBack(atMs: number): Work {
    yield atMs;
    service.callBack();
  }
}

describe(`a payment among random faults, by seed ${SEED} (MALIPO_PROPERTY_SEED)`, () => {
  const holds = (
    property: (ended: Ended, scenario: Scenario) => void,
    changed: (scenario: Scenario) => Scenario = (scenario) => scenario,
  ) => {
    fc.assert(
      fc.property(anyScenario.map(changed), (scenario) => {
        property(happen(scenario), scenario);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  };

  it(`is paid at most once, never ends against the operator’s memory, and never waits without end, in ${RUNS} histories`, () => {
    const ends = new Set<string>();
    const generations = new Set<number>();
    const refunds = new Set<string>();
    holds(({ store, operator }, scenario) => {
      const { kind, plan } = scenario;
      const { state } = store.row();
      ends.add(state);
      if (kind === 'reversal') refunds.add(`${plan.send} ${state}`);
      if (state === 'succeeded') generations.add(generationOf(store.row()));
      const path = store.states.join(' > ');
      assert.ok(operator.taken() <= 1, `the operator took ${operator.taken()} sends as payments: ${path}`);
      const isPaid = operator.payments() > 0;
      assert.ok(state !== 'succeeded' || isPaid, `succeeded, and the operator pays nothing: ${path}`);
      assert.ok(!['failed', 'expired'].includes(state) || !isPaid, `${state}, and the operator pays: ${path}`);
      // The operator never says how it ends, or nobody can tell whether it has what is sent once.
      const isSilent = plan.ending === 'undecided' || operator.taken() === 0 || (isOfCollection(scenario) && !isPaid);
      const mayWait = kind !== 'collection' && isSilent;
      assert.ok(isFinal(state) || (mayWait && state === 'reconciling'), `waits for ever: ${path}`);
      assert.ok(isFinal(state) || store.work.dueAtMs !== null, `nobody asks any more: ${path}`);
    });
    assert.deepEqual([...ends].sort(), ['expired', 'failed', 'reconciling', 'succeeded']);
    assert.ok(generations.size > 1, 'some are paid in a later generation');
    const wanted = ['once failed', 'once reconciling', 'once succeeded'];
    assert.deepEqual([...refunds].filter((each) => each.startsWith('once')).sort(), wanted);
  });

  it('is paid once the float covers it, in a later generation, where nothing else fails', () => {
    const sound = { requestLost: 0, responseLost: 0, useless: 0, refused: 0 };
    const calm = {
      deathRate: 0,
      workflows: 1,
      sendDeadlineMs: REAL_CLOCKS.payoutSendDeadlineMs,
      kind: 'payout',
    } as const;
    holds(
      ({ store, operator }, { plan }) => {
        const row = store.row();
        const { ending, floatLowForMs, decidesAfterMs } = plan;
        // What is decided later than its outcome is overdue is not sent again.
        if (!ending.endsWith('paid') || decidesAfterMs > MINUTE || floatLowForMs > 12 * HOUR) return;
        assert.equal(row.state, 'succeeded', store.states.join(' > '));
        assert.equal(operator.taken(), 1);
        const isRefused = floatLowForMs > decidesAfterMs;
        assert.equal(generationOf(row) > 1, isRefused);
      },
      ({ plan, ...scenario }) => ({
        ...{ ...scenario, ...calm },
        plan: { ...plan, rates: sound, outages: [], lagMs: 0, networkMs: 50 },
      }),
    );
  });
});
