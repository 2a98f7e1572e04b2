// Attempt limits: how many authentication attempts may fail per account, per person in a session and per address, and
// how many attempts to pay checkouts accept.
import { createHash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ApiKeyId, CheckoutId, UserId } from '../domain/ids.ts';
import { readAddress } from './address-blocks.ts';

/** The subject whose failed attempts are counted, and how many may fail within a window that begins with the first. */
export type AttemptLimit = {
  readonly subject: string;
  readonly maxFailures: number;
  readonly windowMs: number;
};

export type CountedAttempt = {
  /** The subjects for which `beginAuthentication` counted it. A successful operation undoes the counts. */
  readonly counted: readonly string[];
};

/** An attempt by password, which the operation compares again with the locked row of the user. */
export type PasswordAttempt = CountedAttempt & {
  /** The hash that the given password matches; null: none was given, or it does not match. */
  readonly verifiedHash: string | null;
};

/** The kind of subject of a limit: `account`, `person`, `staff` or `address`. */
export function subjectKind({ subject }: AttemptLimit): string {
  return subject.split('/', 1)[0] ?? subject;
}

const ATTEMPT_WINDOW_MS = 15 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
// Ten guesses in fifteen minutes find no password. Three of a million one-time codes are valid at a time: with the
// password already known, a hundred guesses in thirty days succeed with a probability of 0.03 %.
const GUESS_LIMITS = [
  { name: '', maxFailures: 10, windowMs: ATTEMPT_WINDOW_MS },
  { name: 'day/', maxFailures: 30, windowMs: DAY_MS },
  { name: 'month/', maxFailures: 100, windowMs: 30 * DAY_MS },
] as const;
// A network address gets more attempts because a whole office may share one.
const MAX_FAILURES_PER_ADDRESS = 50;

/** The stand-in for a typed e-mail, known or not, so that the e-mail itself is not stored. */
export function accountSubject(email: string): `account/${string}` {
  return `account/${digestOf(email)}`;
}

function digestOf(email: string): string {
  return createHash('sha256').update(email.toLowerCase()).digest('hex');
}

/** Counts by the typed e-mail, known or not, so that the limits do not reveal which accounts exist. */
export function accountLimits(email: string): AttemptLimit[] {
  const digest = digestOf(email);
  return GUESS_LIMITS.map(({ name, ...limit }) => ({ subject: `account/${name}${digest}`, ...limit }));
}

/** For passwords and codes that a person enters in a session, so that a stolen session is no help in guessing. */
export function personLimits(userId: UserId): AttemptLimit[] {
  return GUESS_LIMITS.map(({ name, ...limit }) => ({ subject: `person/${name}${userId}`, ...limit }));
}

/** For log-ins of the service's staff, by the given name, known or not. */
export function staffLimits(name: string): AttemptLimit[] {
  const digest = digestOf(name);
  return GUESS_LIMITS.map(({ name: window, ...limit }) => ({ subject: `staff/${window}${digest}`, ...limit }));
}

/** An IPv6 /64 counts as one address, because its holder can use every address in it. */
export function addressLimit(address: string | null): AttemptLimit {
  return {
    subject: `address/${networkOf(address)}`,
    maxFailures: MAX_FAILURES_PER_ADDRESS,
    windowMs: ATTEMPT_WINDOW_MS,
  };
}

/** For refused API keys. `maxFailures` is a setting, because a large merchant may have many servers at one address. */
export function refusedKeyLimit(address: string | null, maxFailures: number): AttemptLimit {
  return { subject: `refused_key/${networkOf(address)}`, maxFailures, windowMs: ATTEMPT_WINDOW_MS };
}

/** How many challenges for a passkey log-in a network address may request, used or not. */
export function challengeLimit(address: string | null): AttemptLimit {
  return {
    ...addressLimit(address),
    subject: `challenge/${networkOf(address)}`,
    maxFailures: 2 * MAX_FAILURES_PER_ADDRESS,
  };
}

/** How many attempts to pay one phone gets in a quarter of an hour and in a day, at all checkouts together. */
const PHONE_LIMITS = [
  { name: '', maxFailures: 5, windowMs: ATTEMPT_WINDOW_MS },
  { name: 'day/', maxFailures: 15, windowMs: DAY_MS },
] as const;
// A one-time checkout is one purchase; a reusable one serves the customers of a shop.
const MAX_ONE_TIME_ATTEMPTS = 20;
const MAX_REUSABLE_ATTEMPTS = 300;

type CheckoutAttempt = {
  readonly checkoutId: CheckoutId;
  readonly isReusable: boolean;
  readonly phone: string;
  readonly address: string | null;
  /** A setting, because a whole mobile network may share one address; 0: no limit. */
  readonly maxPerAddress: number;
};

/** Limits the attempts to pay at checkouts, so that nobody makes strangers' phones ring. Phones are digests. */
export function checkoutLimits({
  checkoutId,
  isReusable,
  phone,
  address,
  maxPerAddress,
}: CheckoutAttempt): AttemptLimit[] {
  const ofPhone = PHONE_LIMITS.map(({ name, ...limit }) => ({ subject: `payer/${name}${digestOf(phone)}`, ...limit }));
  const ofCheckout = isReusable
    ? { maxFailures: MAX_REUSABLE_ATTEMPTS, windowMs: ATTEMPT_WINDOW_MS }
    : { maxFailures: MAX_ONE_TIME_ATTEMPTS, windowMs: DAY_MS };
  const ofAddress = {
    subject: `checkout_address/${networkOf(address)}`,
    maxFailures: maxPerAddress,
    windowMs: ATTEMPT_WINDOW_MS,
  };
  return [
    ...ofPhone,
    { subject: `checkout/${checkoutId}`, ...ofCheckout },
    ...(maxPerAddress === 0 ? [] : [ofAddress]),
  ];
}

/** How long one audit entry about a refusal stands for all later ones of its kind. */
const REFUSAL_WINDOW_MS = 60 * 60_000;

/** Limits the audit entries about attempts beyond a limit: one for each subject. */
export function limitRefusalLimit({ subject }: AttemptLimit): AttemptLimit {
  return { subject: `refusal/${subject}`, maxFailures: 1, windowMs: REFUSAL_WINDOW_MS };
}

/** Limits the audit entries about a known key: one for each reason, under a short name. */
export function keyRefusalLimit(id: ApiKeyId, reason: string): AttemptLimit {
  return { subject: `refusal/${id}/${reason}`, maxFailures: 1, windowMs: REFUSAL_WINDOW_MS };
}

/** The address as the database stores it: without a zone, and not IPv4-mapped. Null if `text` is no address. */
export function plainAddress(text: string): string | null {
  return isIPv4(text) ? text : (readAddress(text.replace(/%.*$/, ''))?.toString() ?? null);
}

function networkOf(address: string | null): string {
  if (address === null) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
