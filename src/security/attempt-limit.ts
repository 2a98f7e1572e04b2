// How often somebody may fail to prove who they are: limits per account, per session's person and per address.
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Scope } from '../domain/accounts/api-key.ts';
import type { ApiKeyId, UserId } from '../domain/ids.ts';

/** What failures are counted for, and how many there may be in a window. */
export type AttemptLimit = { readonly subject: string; readonly maxFailures: number };

export const ATTEMPT_WINDOW_MS = 15 * 60_000;
// Ten guesses in a quarter of an hour find no password, and of a million codes none to speak of. An address may be a whole
// office.
const MAX_FAILURES_PER_ACCOUNT = 10;
const MAX_FAILURES_PER_ADDRESS = 50;

/** By the e-mail as it was typed, known or not, so that the limit does not tell which accounts there are. */
export function accountLimit(email: string): AttemptLimit {
  const digest = createHash('sha256').update(email.toLowerCase()).digest('hex');
  return { subject: `account/${digest}`, maxFailures: MAX_FAILURES_PER_ACCOUNT };
}

/** For what a session asks again: a stolen one must not guess. */
export function personLimit(userId: UserId): AttemptLimit {
  return { subject: `person/${userId}`, maxFailures: MAX_FAILURES_PER_ACCOUNT };
}

/** A whole /64 of IPv6 counts as one address: its holder can use any in it. */
export function addressLimit(address: string | null): AttemptLimit {
  return { subject: `address/${networkOf(address)}`, maxFailures: MAX_FAILURES_PER_ADDRESS };
}

/** How long a refusal of an API key stands for all like it in the audit log. */
export const KEY_REFUSAL_WINDOW_MS = 60 * 60_000;

/** What is kept of refusals of a known key: one for each scope that it lacks, and one for a key that is over. */
export function keyRefusalLimit(id: ApiKeyId, lacking: Scope | null): AttemptLimit {
  return { subject: `refusal/${id}/${lacking ?? 'over'}`, maxFailures: 1 };
}

/** The address as the database keeps it: without a zone, IPv4 as such; null when it is none. */
export function plainAddress(text: string): string | null {
  const withoutZone = text.replace(/%.*$/, '');
  return isIP(withoutZone) === 0 ? null : ipaddr.process(withoutZone).toString();
}

function networkOf(address: string | null): string {
  if (address === null) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
