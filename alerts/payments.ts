// What merchants and their people do during a walk, and what became of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { stopProcess } from '../chaos/faults.ts';
import { PAID_ROW } from '../chaos/plan.ts';
import { phoneOf } from '../chaos/wires.ts';
import { change } from './database.ts';
import { until, type Stage } from './stage.ts';

export type Requested = { readonly merchant?: number; readonly row?: string; readonly amount?: number };
type Noun = 'collections' | 'payouts';

const AMOUNT = 1000;
const STATE_LIMIT_MS = 120_000;
/** The first phones are those of the merchants’ funds. */
let lastPhone = 100;

/** Resolves with its id once it is accepted, however often the request must be repeated. */
export async function request(stage: Stage, noun: Noun, requested: Requested = {}): Promise<string> {
  const { merchant = 0, row = PAID_ROW, amount = AMOUNT } = requested;
  const number = ++lastPhone;
  const response = await stage.client.asMerchant(merchantOf(stage, merchant), {
    action: noun === 'collections' ? 'collection' : 'payout',
    key: `alert-${number}`,
    subjects: [],
    path: `/v1/api/${noun}`,
    body: { phone: phoneOf(number, row), amount, reference: `alert-${number}` },
  });
  if (response?.status !== 202) throw new Error(`not accepted: ${response?.body ?? 'no response'}`);
  return (JSON.parse(response.body) as { id: string }).id;
}

/** An approver releases it. */
export async function release(stage: Stage, id: string): Promise<void> {
  const merchant = merchantOf(stage, 0);
  const response = await stage.client.asPerson(merchant, merchant.approvers[0], {
    action: 'release',
    key: `release-${id}`,
    subjects: [id],
    path: `/v1/console/payouts/${id}/release`,
    body: null,
  });
  if (response?.status !== 200) throw new Error(`not released: ${response?.body ?? 'no response'}`);
}

/** Resolves when the payment, of the first merchant unless another is named, is in the state. */
export async function untilState(stage: Stage, noun: Noun, id: string, state: string, merchant = 0): Promise<void> {
  await until(`${id} to be ${state}`, STATE_LIMIT_MS, async () => {
    const shown = await stage.client.read(merchantOf(stage, merchant), `/v1/api/${noun}/${id}`);
    return shown?.state === state;
  });
}

/** Resolves when nothing is owed to any endpoint. */
export async function untilDelivered(stage: Stage, limitMs: number): Promise<void> {
  await until('every webhook to be delivered', limitMs, async () => {
    const owed = await change(stage, `SELECT id FROM deliveries WHERE state <> 'delivered' LIMIT 1`);
    return owed.length === 0;
  });
}

/** Payments go on: a collection that is requested now is paid. */
export async function pays(stage: Stage): Promise<void> {
  await untilState(stage, 'collections', await request(stage, 'collections'), 'succeeded');
}

/** Requests a collection again and again, until the returned function is called; that resolves when each was accepted. */
export function keepRequesting(stage: Stage, everyMs: number, requested: Requested = {}): () => Promise<string[]> {
  const accepted: Promise<string>[] = [];
  const timer = setInterval(() => {
    const id = request(stage, 'collections', requested);
    id.catch(() => undefined);
    accepted.push(id);
  }, everyMs);
  return async () => {
    clearInterval(timer);
    return Promise.all(accepted);
  };
}

/** So many at once. */
export async function requestMany(stage: Stage, count: number, requested: Requested = {}): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => request(stage, 'collections', requested)));
}

/** The same as long as it is not ended: `act` is called again, some time after it is done. */
export function keepDoing(act: () => Promise<void>, pauseMs: number): () => Promise<void> {
  let isOver = false;
  const done = (async () => {
    while (!isEnded()) {
      await act();
      await sleep(pauseMs);
    }
  })();
  done.catch(() => undefined);
  // A function, because the compiler keeps treating a variable as false after it was checked once.
  function isEnded(): boolean {
    return isOver;
  }
  return async () => {
    isOver = true;
    await done;
  };
}

/** The process stands still for `stillMs` again and again, and runs for `runsMs` in between, until the returned function is called. */
export function keepStopping(stopped: Parameters<typeof stopProcess>[0], stillMs: number, runsMs: number) {
  return keepDoing(async () => {
    const goOn = await stopProcess(stopped);
    await sleep(stillMs);
    await goOn();
  }, runsMs);
}

export function merchantOf({ merchants }: Stage, index: number): Stage['merchants'][number] {
  const merchant = merchants[index];
  if (!merchant) throw new Error(`there is no merchant ${index}`);
  return merchant;
}
