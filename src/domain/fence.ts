// The fence of a database, its markers outside of it, and how a database that was set back is known.

/** What is kept outside of the database of one write of its fence. */
export type Marker = {
  readonly counter: number;
  /** By the clock of the database. */
  readonly writtenAt: Date;
  readonly lsn: string;
};

/** `memory`: of a process that ran meanwhile. */
export type MarkerPlace = 'file' | 'memory' | 'temporal';
export type KeptMarker = Marker & { readonly place: MarkerPlace };

/** Which database it is: a cluster, a history of it, and a database in it. */
export type DatabaseIdentity = {
  readonly systemIdentifier: string;
  readonly timeline: number;
  readonly databaseOid: number;
};

export type Fence = {
  /** 0: never written. */
  readonly counter: number;
  readonly writtenAt: Date | null;
  /** As of the last write; null: never written. */
  readonly identity: DatabaseIdentity | null;
};

export type RestoreReason = 'behind' | 'other_cluster' | 'other_database' | 'other_timeline' | 'no_marker';

export type FoundRestore = { readonly reason: RestoreReason; readonly marker: KeptMarker | null };

/** What the staff and the log read. */
export const RESTORE_TEXTS: Readonly<Record<RestoreReason, string>> = {
  behind: 'the database is older than a marker of its fence',
  other_cluster: 'the database is on another PostgreSQL cluster than its fence was',
  other_database: 'the database is a copy of the one whose fence it has',
  other_timeline: 'the database is on another timeline than its fence was',
  no_marker: 'the database has a fence, and no marker of it is to be found',
};

/** Several writers of one second, or a process that stops between the two writes, leave a marker one write behind. */
export function newest(markers: readonly KeptMarker[]): KeptMarker | null {
  return markers.reduce<KeptMarker | null>(
    (found, marker) => (found === null || marker.counter > found.counter ? marker : found),
    null,
  );
}

/**
 * Why the database may not be what this deployment last wrote; null: it is. A fence that was never written and has no marker is that of a
 * new database. `hasLooked`: every place was looked at, so what was not found is not there.
 */
export function findRestore(
  fence: Fence,
  present: DatabaseIdentity,
  markers: readonly KeptMarker[],
  hasLooked: boolean,
): FoundRestore | null {
  const marker = newest(markers);
  if (marker !== null && marker.counter > fence.counter) return { reason: 'behind', marker };
  const { counter, identity } = fence;
  if (counter === 0 || identity === null) return null;
  if (identity.systemIdentifier !== present.systemIdentifier) return { reason: 'other_cluster', marker };
  if (identity.databaseOid !== present.databaseOid) return { reason: 'other_database', marker };
  if (identity.timeline !== present.timeline) return { reason: 'other_timeline', marker };
  return marker === null && hasLooked ? { reason: 'no_marker', marker } : null;
}
