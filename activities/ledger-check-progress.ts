// The progress of a ledger check, which its heartbeats carry through Temporal. The progress is attested, because forged progress that says
// "done" would hide every fault.
import type { Log } from '../src/log.ts';
import type { LedgerCheckProgress } from '../src/operations/payments/check-ledger.ts';
import { isMacOf, macOf, type AttestedParts } from '../src/security/attestation-mac.ts';
import type { KeyRing } from '../src/security/sealing.ts';

/** A check counts as of its start, however often another worker continued it. */
export type StartedCheck = { readonly beganAtMs: number; readonly progress: LedgerCheckProgress };

type AttestedCheck = StartedCheck & { readonly attestation: string };

export function attestCheck(check: StartedCheck, ring: KeyRing): AttestedCheck {
  return { ...check, attestation: macOf(partsOf(check), ring) };
}

/** The check in the last heartbeat of an earlier try; null if there is none, or if it lacks our attestation. */
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
