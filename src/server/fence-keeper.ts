// Keeps the fence: compares the database with the markers outside of it, writes the fence every second where no other process does, and
// keeps what was written outside of the database.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import type { Database } from '../db/platform/database.ts';
import { findFence, listOpenRestores, writeFence, type FenceRow, type OpenRestore } from '../db/platform/fence.ts';
import { findRestore, RESTORE_TEXTS, type FoundRestore, type KeptMarker, type Marker } from '../domain/fence.ts';
import type { Log } from '../log.ts';
import { enterRecovery } from '../operations/enter-recovery.ts';
import type { FencePlaces } from './fence-places.ts';

const TICK_MS = 1000;
/** Another process takes over from a writer that is silent for so long, before the fence is no longer fresh. */
const TAKE_OVER_MS = 2000;
/** So long a process without a marker waits for another one that has one, and writes. */
const NO_MARKER_MS = 3 * TICK_MS;

export type FenceKeeper = {
  /** Resolves once the database was compared with the markers. */
  readonly compared: Promise<void>;
  /** Why the service is in recovery; null: it is not. `unknown` before the first comparison; otherwise as last read. */
  recovery(): OpenRestore | 'unknown' | null;
  stop(): Promise<void>;
};

type FenceKeeperOptions = {
  /** With a connection of its own: nothing is sent while the fence waits behind other statements. */
  readonly db: Database;
  readonly places: FencePlaces;
  /** Whether the schema of the database fits. */
  readonly isReadable: () => boolean;
  readonly log: Log;
};

export function startFenceKeeper({ db, places, isReadable, log }: FenceKeeperOptions): FenceKeeper {
  const writer = crypto.randomUUID();
  const state: KeeperState = { memory: null, firstSeen: null, recovery: 'unknown' };
  let isFailing = false;
  let accept = (): void => undefined;
  const compared = new Promise<void>((resolve) => {
    accept = resolve;
  });
  const loop = createCoalescingLoop({
    async pass() {
      if (!isReadable()) return;
      await tick({ db, places, writer, log }, state);
      if (isFailing) log.info({}, 'the fence is kept again');
      isFailing = false;
      if (state.recovery !== 'unknown') accept();
    },
    onError(error) {
      if (!isFailing) log.error({ error }, 'the fence could not be kept: nothing is sent until it is');
      isFailing = true;
    },
  });
  const timer = setInterval(loop.wake, TICK_MS);
  loop.wake();
  return {
    compared,
    recovery: () => state.recovery,
    async stop() {
      clearInterval(timer);
      await loop.stop();
      accept();
      await db.close();
    },
  };
}

type KeeperState = {
  /** What this process knows that the database had. */
  memory: KeptMarker | null;
  /** The first look of a process that has no marker. */
  firstSeen: { readonly counter: number; readonly atMs: number } | null;
  recovery: OpenRestore | 'unknown' | null;
};

type Keeping = Omit<FenceKeeperOptions, 'isReadable'> & { readonly writer: string };

async function tick(keeping: Keeping, state: KeeperState): Promise<void> {
  const { db, places, writer } = keeping;
  const fence = await findFence(db);
  const { markers, hasLooked } = await places.look(fence.deployment);
  const known = state.memory === null ? markers : [...markers, state.memory];
  state.firstSeen ??= { counter: fence.counter, atMs: performance.now() };
  const hasWaited = performance.now() - state.firstSeen.atMs > NO_MARKER_MS;
  const found = findRestore(fence, fence.present, known, hasLooked && hasWaited);
  if (found !== null) return recover(found, fence, keeping, state);
  // Another process that has a marker counts up.
  const isVouched = fence.isOfThisStart && fence.counter > state.firstSeen.counter;
  const isNew = fence.counter === 0 && hasLooked;
  if (known.length === 0 && !isNew && !isVouched) return;
  const [open = null] = await listOpenRestores(db);
  // Nothing is sent before the first write since PostgreSQL started, so a process is not ready before it.
  if (open !== null || fence.isOfThisStart) state.recovery = open;
  const seen = markerOf(fence);
  if (seen !== null) state.memory = { ...seen, place: 'memory' };
  // Before the next write, so that no two writes are without a marker.
  if (seen !== null) await places.keep(fence.deployment, seen);
  if (!mayWrite(fence, writer)) return;
  const written = await writeFence(db, fence.counter, writer);
  if (written === null) return;
  state.recovery = open;
  state.memory = { ...written, place: 'memory' };
  await places.keep(fence.deployment, written);
  places.keepBeside(fence.deployment, written);
}

function mayWrite({ writer, ageMs, isOfThisStart }: FenceRow, own: string): boolean {
  return ageMs === null || writer === own || ageMs > TAKE_OVER_MS || ageMs < 0 || !isOfThisStart;
}

function markerOf({ counter, writtenAt, lsn }: FenceRow): Marker | null {
  return writtenAt === null || lsn === null || counter === 0 ? null : { counter, writtenAt, lsn };
}

async function recover(
  found: FoundRestore,
  fence: FenceRow,
  { db, places, writer, log }: Keeping,
  state: KeeperState,
): Promise<void> {
  const entered = await enterRecovery(db, { found, fence, writer, at: new Date() });
  // Another process was first: the next look sees what it wrote.
  if (entered === null) return;
  state.memory = { ...entered.marker, place: 'memory' };
  log.fatal(
    { reason: RESTORE_TEXTS[found.reason] },
    'the service is in recovery: nothing is sent until two of the staff open it',
  );
  [state.recovery = null] = await listOpenRestores(db);
  await places.keep(fence.deployment, entered.marker);
}
