// The faults with their times and durations: all from the seed, so that a campaign can be repeated.
import type { BrokenPart } from './checker/evidence.ts';
import type { Random } from './random.ts';

/** The parts that lose power: the PostgreSQL with Temporal's databases, with Temporal or without. */
export const PLUGS = {
  engines: 'plug_of_engines_pulled',
  database: 'plug_of_database_pulled',
} as const satisfies Record<string, FaultKind>;
export type Plug = keyof typeof PLUGS;

export type PlannedFault = {
  readonly number: number;
  readonly kind: FaultKind;
  /** The index among several servers. */
  readonly target: number;
  /** Since the start of the campaign. */
  readonly atMs: number;
  /** 0: it ends at once, and its part restarts by itself. */
  readonly durationMs: number;
};

type Profile = {
  /** Its frequency relative to the others; 0: only on request. */
  readonly weight: number;
  /** The part that it hits: no two faults hit the same part at once. */
  readonly hits: BrokenPart;
  readonly durationMs: readonly [number, number];
};

// The receiver is down for less than its schedule of attempts.
const PROFILES = {
  server_killed: { weight: 8, hits: 'server', durationMs: [0, 0] },
  server_stopped: { weight: 3, hits: 'server', durationMs: [3000, 15_000] },
  temporal_killed: { weight: 2, hits: 'temporal', durationMs: [500, 8000] },
  temporal_stopped: { weight: 2, hits: 'temporal', durationMs: [3000, 12_000] },
  postgres_killed: { weight: 1, hits: 'postgres', durationMs: [500, 6000] },
  postgres_shut_down: { weight: 2, hits: 'postgres', durationMs: [500, 8000] },
  postgres_stopped: { weight: 1, hits: 'postgres', durationMs: [3000, 12_000] },
  all_backends_terminated: { weight: 4, hits: 'postgres', durationMs: [0, 0] },
  some_backends_terminated: { weight: 3, hits: 'postgres', durationMs: [0, 0] },
  operator_slow: { weight: 3, hits: 'operator', durationMs: [4000, 12_000] },
  operator_errors: { weight: 3, hits: 'operator', durationMs: [4000, 12_000] },
  operator_down: { weight: 2, hits: 'operator', durationMs: [3000, 12_000] },
  operator_killed: { weight: 2, hits: 'operator', durationMs: [0, 0] },
  operator_stopped: { weight: 1, hits: 'operator', durationMs: [1000, 20_000] },
  receiver_slow: { weight: 1, hits: 'receiver', durationMs: [3000, 10_000] },
  receiver_errors: { weight: 1, hits: 'receiver', durationMs: [3000, 10_000] },
  receiver_down: { weight: 1, hits: 'receiver', durationMs: [3000, 10_000] },
  receiver_killed: { weight: 1, hits: 'receiver', durationMs: [0, 0] },
  disk_full: { weight: 1, hits: 'postgres', durationMs: [2000, 6000] },
  plug_of_engines_pulled: { weight: 0, hits: 'postgres', durationMs: [100, 2000] },
  plug_of_database_pulled: { weight: 0, hits: 'postgres', durationMs: [100, 2000] },
} as const satisfies Readonly<Record<string, Profile>>;

type FaultKind = keyof typeof PROFILES;
const FAULT_KINDS = Object.keys(PROFILES) as FaultKind[];

const FIRST_AT_MS = 4000;
const SHORTEST_GAP_MS = 2000;
const MOST_AT_ONCE = 2;

type ScheduleOptions = {
  readonly durationMs: number;
  readonly servers: number;
  readonly hasDisk: boolean;
  readonly longestGapMs: number;
};

/** The same for the same seed and options. Without a disk that can be filled, only those faults are missing. */
export function scheduleFaults({ hasDisk, ...options }: ScheduleOptions, random: Random): PlannedFault[] {
  return scheduleAll(options, random).filter(({ kind }) => kind !== 'disk_full' || hasDisk);
}

function scheduleAll(options: Omit<ScheduleOptions, 'hasDisk'>, random: Random): PlannedFault[] {
  const { durationMs, servers, longestGapMs } = options;
  const faults: PlannedFault[] = [];
  for (let atMs = FIRST_AT_MS; ; atMs += random.integer(SHORTEST_GAP_MS, longestGapMs)) {
    const kind = pickByWeight(random);
    const [shortest, longest] = PROFILES[kind].durationMs;
    const fault = {
      number: faults.length + 1,
      kind,
      target: random.integer(0, servers - 1),
      atMs,
      durationMs: random.integer(shortest, longest),
    };
    if (atMs + fault.durationMs > durationMs) return faults;
    const underWay = faults.filter((earlier) => earlier.atMs + earlier.durationMs >= atMs);
    const isHit = underWay.some((earlier) => PROFILES[earlier.kind].hits === PROFILES[kind].hits);
    if (underWay.length < MOST_AT_ONCE && !isHit) faults.push(fault);
  }
}

type PullOptions = { readonly pulls: number; readonly plug: Plug; readonly durationMs: number };

/** At random moments, at least half the mean gap apart, so that everything can start again. */
export function schedulePulls({ pulls, plug, durationMs }: PullOptions, random: Random): PlannedFault[] {
  const kind = PLUGS[plug];
  const gapMs = (durationMs - FIRST_AT_MS) / pulls;
  return Array.from({ length: pulls }, (_, index) => ({
    number: index + 1,
    kind,
    target: 0,
    atMs: Math.floor(FIRST_AT_MS + index * gapMs) + random.integer(0, Math.floor(gapMs / 2)),
    durationMs: random.integer(...PROFILES[kind].durationMs),
  }));
}

export function partHitBy(kind: FaultKind): BrokenPart {
  return PROFILES[kind].hits;
}

export function describeFault({ number, kind, target, atMs, durationMs }: PlannedFault): string {
  const name = kind.replaceAll('_', ' ').replace(/^server/, `server process ${target}`);
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  return `fault ${number} at ${seconds(atMs)} s: ${name}${durationMs > 0 ? ` for ${seconds(durationMs)} s` : ''}`;
}

function pickByWeight(random: Random): FaultKind {
  const total = FAULT_KINDS.reduce((sum, kind) => sum + PROFILES[kind].weight, 0);
  let left = random.next() * total;
  for (const kind of FAULT_KINDS) {
    left -= PROFILES[kind].weight;
    if (left < 0) return kind;
  }
  return 'server_killed';
}
