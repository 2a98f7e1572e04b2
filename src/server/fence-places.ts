// The places where markers of the fence are kept: a file of this machine, the Temporal namespace, or both.
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeptMarker, Marker } from '../domain/fence.ts';
import type { Log } from '../log.ts';
import type { TemporalClient } from '../temporal/client.ts';
import { markerText, parseMarker, type MarkerStore } from './fence-file.ts';

/** Each write changes the namespace, which every service of Temporal reads again. */
const BESIDE_EVERY_MS = 10_000;
/** So long the first look waits for Temporal, whose marker may be ahead of a file that was set back with the database. */
const FIRST_WAIT_MS = 3000;

export type FencePlaces = {
  /** The markers that are there. `hasLooked`: each place answered at least once. Throws where the file cannot be read. */
  look(deployment: string): Promise<{ readonly markers: readonly KeptMarker[]; readonly hasLooked: boolean }>;
  /** Returns once the marker is kept where it must be: in the file, or without one in Temporal. Throws when it is not. */
  keep(deployment: string, marker: Marker): Promise<void>;
  /** Beside the file, in Temporal, every ten seconds and only while it answers: payments go on without it. */
  keepBeside(deployment: string, marker: Marker): void;
};

type Options = {
  readonly file: MarkerStore | null;
  /** Null: nothing is kept in Temporal. */
  readonly temporal: Pick<TemporalClient, 'whenConnected' | 'readNamespaceText' | 'writeNamespaceText'> | null;
  readonly log: Log;
};

const nameFor = (deployment: string): string => `malipo.fence.${deployment}`;

export function createFencePlaces({ file, temporal, log }: Options): FencePlaces {
  let inTemporal: KeptMarker | null = null;
  let [hasReadTemporal, isFirst] = [temporal === null, true];
  let [readAtMs, keptInFile] = [-Infinity, 0];
  let [isReadSince, mayWriteBeside] = [false, false];

  async function readTemporal(deployment: string): Promise<void> {
    readAtMs = performance.now();
    const read = await temporal?.readNamespaceText(nameFor(deployment));
    if (read === 'away') return;
    const text = read?.text ?? null;
    inTemporal = text === null ? null : { ...parseMarker(text), place: 'temporal' };
    [hasReadTemporal, isReadSince] = [true, true];
  }

  async function writeTemporal(deployment: string, marker: Marker): Promise<boolean> {
    const kept = await temporal?.writeNamespaceText(nameFor(deployment), markerText(marker));
    if (kept === 'kept') inTemporal = { ...marker, place: 'temporal' };
    return kept === 'kept';
  }

  /** The fence does not wait for it. */
  function beside(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      log.warn({ error }, 'the marker of the fence in Temporal could not be read or written');
    });
  }

  return {
    async look(deployment) {
      const inFile = (await file?.read(deployment)) ?? null;
      if (isFirst) await Promise.race([temporal?.whenConnected(), sleep(FIRST_WAIT_MS, undefined, { ref: false })]);
      if (isFirst || (!hasReadTemporal && inFile === null)) await readTemporal(deployment);
      else if (file !== null && temporal !== null && performance.now() - readAtMs > BESIDE_EVERY_MS)
        beside(readTemporal(deployment));
      const markers = [inFile && { ...inFile, place: 'file' as const }, inTemporal].filter((each) => each !== null);
      isFirst = false;
      mayWriteBeside ||= isReadSince;
      isReadSince = false;
      return { markers, hasLooked: hasReadTemporal };
    },
    async keep(deployment, marker) {
      if (file !== null) {
        if (marker.counter > keptInFile) await file.write(deployment, marker);
        keptInFile = marker.counter;
      } else if (inTemporal?.counter !== marker.counter && !(await writeTemporal(deployment, marker))) {
        throw new Error('Temporal does not keep the marker of the fence');
      }
    },
    keepBeside(deployment, marker) {
      // Only after what it had was compared with the database.
      if (file === null || !mayWriteBeside) return;
      mayWriteBeside = false;
      beside(writeTemporal(deployment, marker));
    },
  };
}
