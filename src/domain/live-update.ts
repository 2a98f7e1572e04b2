// Live updates: reports that an object of a merchant came into a state, and the places of their readers.
import type { MerchantId } from './ids.ts';
import { PAYMENT_KINDS } from './payments/payment.ts';

export const LIVE_UPDATE_KINDS = [...PAYMENT_KINDS, 'delivery', 'endpoint', 'replay', 'checkout'] as const;
export type LiveUpdateKind = (typeof LIVE_UPDATE_KINDS)[number];

export type LiveUpdate = {
  readonly merchantId: MerchantId;
  readonly kind: LiveUpdateKind;
  readonly objectId: string;
  readonly state: string;
  readonly changedAt: Date;
  readonly place: Place;
};

/**
 * A place in the order of all updates: the number of the transaction and, within it, the number of the update. Once the
 * transaction of a place is no longer in progress, everything before the place is known.
 */
export type Place = { readonly xid: bigint; readonly id: bigint };

/** How long updates are kept, and how long a reader may be disconnected. */
export const UPDATES_KEPT_FOR_MS = 24 * 3_600_000;
const MAY_BE_AWAY_FOR_MS = UPDATES_KEPT_FOR_MS - 3_600_000;

const PLACE_FORM = /^([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,15})$/;

/** The place as a reader stores it, with the time at which the reader got it. */
export function writePlace({ xid, id }: Place, at: Date): string {
  return `${xid}-${id}-${at.getTime()}`;
}

/**
 * The place in a reader's text; null if we did not write it, or if it is so old that later updates may be removed. An
 * invented place gives no access to updates of another merchant.
 */
export function readPlace(text: string, now: Date): Place | null {
  const [, xid, id, toldAtMs] = PLACE_FORM.exec(text) ?? [];
  if (xid === undefined || id === undefined) return null;
  const awayForMs = now.getTime() - Number(toldAtMs);
  if (awayForMs > MAY_BE_AWAY_FOR_MS) return null;
  return { xid: BigInt(xid), id: BigInt(id) };
}

export function isBefore(one: Place, other: Place): boolean {
  return one.xid < other.xid || (one.xid === other.xid && one.id < other.id);
}
