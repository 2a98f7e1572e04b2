// A model clock, and work on it that waits, is interleaved at every wait, and dies there and begins again.

/** Each value that it yields is a wait in milliseconds; between two of them nothing else happens. */
export type Work<Result = void> = Generator<number, Result, void>;

type Running = { readonly make: () => Work; work: Work; dueAtMs: number };

export type Scheduler = {
  nowMs(): number;
  /** Runs what `make` returns from now on. Work that dies begins again, as what is retried or found by a sweep does. */
  start(make: () => Work): void;
  /** Runs all work until nothing is left, or until this time. */
  runUntil(endMs: number): void;
};

type Deaths = {
  /** From 0 to below 1, the same in every run with one seed. */
  readonly random: () => number;
  /** How likely work dies at a wait, for as long as there are deaths left. */
  readonly rate: number;
  readonly most: number;
  /** After what time its work begins again. */
  readonly restartMs: number;
};

export function createScheduler({ random, rate, most, restartMs }: Deaths): Scheduler {
  let nowMs = 0;
  let deaths = 0;
  let all: Running[] = [];

  function step(one: Running): void {
    if (deaths < most && random() < rate) {
      deaths += 1;
      one.work = one.make();
      one.dueAtMs = nowMs + restartMs * random();
      return;
    }
    const next = one.work.next();
    if (next.done === true) all = all.filter((other) => other !== one);
    else one.dueAtMs = nowMs + Math.max(1, next.value);
  }

  return {
    nowMs: () => nowMs,
    start(make) {
      all.push({ make, work: make(), dueAtMs: nowMs });
    },
    runUntil(endMs) {
      for (;;) {
        const [first, ...others] = all;
        if (first === undefined) return;
        const next = others.reduce((one, other) => (other.dueAtMs < one.dueAtMs ? other : one), first);
        if (next.dueAtMs > endMs) return;
        nowMs = Math.max(nowMs, next.dueAtMs);
        step(next);
      }
    },
  };
}

/** Numbers from 0 to below 1 that follow from the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
