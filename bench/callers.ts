// Callers that work one after the other, or at a rate.
import { setTimeout as sleep } from 'node:timers/promises';

/** How much is to be done, and how fast: by so many callers, each as soon as it has done one, or so many a second. */
export type Load = { readonly count: number } & ({ readonly callers: number } | { readonly perSecond: number });

/** Calls `work` with each number below `count`; resolves when all are done. */
export async function callAll(load: Load, work: (index: number) => Promise<void>): Promise<void> {
  const { count } = load;
  if ('callers' in load) {
    let next = 0;
    const caller = async (): Promise<void> => {
      while (next < count) await work(next++);
    };
    await Promise.all(Array.from({ length: load.callers }, caller));
    return;
  }
  const running: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let index = 0; index < count; index++) {
    const waitMs = startedMs + (index * 1000) / load.perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    running.push(work(index));
  }
  await Promise.all(running);
}

const RETRY_MS = 1000;

/** Requests again and again until the service accepts. */
export async function untilAccepted<Id>(request: () => Promise<Id | undefined>): Promise<Id> {
  for (;;) {
    const id = await request();
    if (id !== undefined) return id;
    await sleep(RETRY_MS);
  }
}
