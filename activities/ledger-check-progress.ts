// How far a check of the ledger came, as its heartbeats carry it through Temporal: attested, because a check that is said to have
// come to its end finds no fault.
import type { Log } from '../src/log.ts';
import type { LedgerCheckProgress } from '../src/operations/payments/check-ledger.ts';
import { isMacOf, macOf, type AttestedParts } from '../src/security/attestation-mac.ts';
import type { KeyRing } from '../src/security/sealing.ts';

/** A check, which counts as of when it began, however often another worker continued it. */
export type StartedCheck = { readonly beganAtMs: number; readonly progress: LedgerCheckProgress };

type AttestedCheck = StartedCheck & { readonly attestation: string };

export function attestCheck(check: StartedCheck, ring: KeyRing): AttestedCheck {
  return { ...check, attestation: macOf(partsOf(check), ring) };
}

/** The check that the last heartbeat of an earlier try left; null without one, or with one that no process of ours sent. */
export function continuedFrom(heartbeat: unknown, ring: KeyRing, log: Log): StartedCheck | null {
  if (heartbeat === undefined || heartbeat === null) return null;
  const { beganAtMs, progress, attestation } = heartbeat as AttestedCheck;
  const check = { beganAtMs, progress };
  if (typeof attestation === 'string' && isMacOf(partsOf(check), attestation, ring)) return check;
  log.fatal({}, 'a ledger check found progress without our attestation, and starts from the beginning');
  return null;
}

function partsOf({ beganAtMs, progress }: StartedCheck): AttestedParts {
  return ['malipo: progress of a ledger check', beganAtMs, progress];
}
