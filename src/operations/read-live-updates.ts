// Reads live updates for streams, and whether a stream's session is still what it was.
import type { Database } from '../db/platform/database.ts';
import { findSession } from '../db/accounts/session.ts';
import { findHorizon, listLiveUpdates } from '../db/live-updates.ts';
import { mustEnrol } from '../domain/accounts/member.ts';
import type { Session } from '../domain/accounts/session.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { LiveUpdate, Place } from '../domain/live-update.ts';

export type NextUpdates = {
  readonly updates: readonly LiveUpdate[];
  /** Where to go on: nothing before it is missing. */
  readonly next: Place;
};

/** A place before which everything can be read by now. */
export async function readEnd(db: Database): Promise<Place> {
  return { xid: await findHorizon(db), id: 0n };
}

/** The next updates of these merchants, at most `limit`, from one place up to another that was the end at some time. */
export async function readUpdates(
  db: Database,
  merchantIds: readonly MerchantId[],
  { after, end }: { readonly after: Place; readonly end: Place },
  limit: number,
): Promise<NextUpdates> {
  const updates = await listLiveUpdates(db, merchantIds, { after, horizon: end.xid }, limit);
  const last = updates.at(-1);
  return { updates, next: updates.length < limit || last === undefined ? end : last.place };
}

/** Whether the session is alive, in the same roles, and may read. Does not count as its use. */
export async function isSessionUnchanged(db: Database, { tokenSha256, person }: Session, at: Date): Promise<boolean> {
  const now = await findSession(db, tokenSha256, at);
  return now !== null && !mustEnrol(now.person) && now.person.roles.join() === person.roles.join();
}
