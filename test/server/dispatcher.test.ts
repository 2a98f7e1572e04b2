// Which loops of a dispatcher run: those that the work poll finds work for, all of them now and then, and all when it fails.
import assert from 'node:assert/strict';
import type { DueWork } from '../../src/domain/due-work.ts';
import { startDispatcher, type Dispatcher } from '../../src/dispatcher/dispatcher.ts';
import { eventually } from '../support/test-environment.ts';
import { testLog } from '../support/engines.ts';

const NOTHING: DueWork = {
  attempts: false,
  starts: false,
  checks: false,
  maintenance: false,
  auditChains: false,
  totals: false,
};
const ONCE = { attempts: 1, starts: 1, checks: 1, maintenance: 1, auditChains: 1, totals: 1 };
const LONG_MS = 3_600_000;
const POLLS = 5;

describe('a dispatcher', () => {
  let dispatcher: Dispatcher;
  let due: DueWork;
  let isBehind: boolean;
  let [pollFails, totalsFail]: boolean[] = [];
  let polls: number;
  let passes: Record<keyof DueWork, number>;
  let reported: Date[];

  beforeEach(() => {
    [due, isBehind, polls] = [NOTHING, false, 0];
    [pollFails, totalsFail] = [false, false];
    passes = { attempts: 0, starts: 0, checks: 0, maintenance: 0, auditChains: 0, totals: 0 };
    reported = [];
  });
  afterEach(() => dispatcher.stop());

  function start(wholePassMs = LONG_MS): void {
    const pass = (work: keyof DueWork) => {
      passes[work] += 1;
      return Promise.resolve();
    };
    const nothing = () => Promise.resolve();
    dispatcher = startDispatcher({
      attempts: { run: () => pass('attempts'), drain: nothing },
      starter: {
        offer: () => undefined,
        offerCallback: () => undefined,
        startRecorded: () => pass('starts').then(() => 0),
        isBehind: () => isBehind,
        drain: nothing,
      },
      checks: { check: () => pass('checks').then(() => 0) },
      maintenance: { run: () => pass('maintenance') },
      auditChains: { run: () => pass('auditChains') },
      totals: { run: () => (totalsFail ? Promise.reject(new Error('not folded')) : pass('totals')) },
      report: {
        run(doneAsOf) {
          reported.push(doneAsOf);
          return nothing();
        },
      },
      findDueWork() {
        polls += 1;
        return pollFails ? Promise.reject(new Error('the database is unavailable')) : Promise.resolve(due);
      },
      tickMs: 5,
      wholePassMs,
      log: testLog,
    });
  }
  const afterPolls = (count = POLLS) => eventually(`${count} polls`, () => polls >= count);

  it('runs every loop when it starts, and none while the work poll finds nothing', async () => {
    start();
    await afterPolls();
    assert.deepEqual(passes, ONCE);
  });

  it('runs at each work poll the loops that it finds work for, and no other', async () => {
    due = { ...NOTHING, attempts: true, totals: true };
    start();
    await afterPolls();
    const { attempts, totals, ...others } = passes;
    assert.ok(attempts >= POLLS - 1 && totals >= POLLS - 1, JSON.stringify(passes));
    assert.deepEqual(others, { starts: 1, checks: 1, maintenance: 1, auditChains: 1 });
  });

  it('runs a loop at once when it is woken, even if the work poll finds nothing', async () => {
    start();
    await afterPolls(1);
    dispatcher.wake();
    dispatcher.wakeStarter();
    await eventually('both', () => passes.attempts === 2 && passes.starts === 2);
  });

  it('polls for starts while they are behind, which only a start can end', async () => {
    isBehind = true;
    start();
    await afterPolls();
    assert.ok(passes.starts >= POLLS - 1, JSON.stringify(passes));
    assert.equal(passes.attempts, 1);
  });

  it('runs every loop at intervals, even if the work poll finds nothing', async () => {
    start(10);
    await eventually('three passes of each', () => Object.values(passes).every((count) => count >= 3));
  });

  it('runs every loop when the work poll fails', async () => {
    pollFails = true;
    start();
    await eventually('three passes of each', () => Object.values(passes).every((count) => count >= 3));
  });

  it('has done all due work as of a work poll that finds nothing', async () => {
    start();
    await afterPolls(1);
    const at = Date.now();
    await eventually('a later report', () => reported.some((doneAsOf) => doneAsOf.getTime() > at));
    assert.deepEqual(passes, ONCE);
  });

  it('has not done the work of a failing loop', async () => {
    totalsFail = true;
    due = { ...NOTHING, totals: true };
    start();
    await afterPolls();
    assert.deepEqual(reported, []);
  });
});
