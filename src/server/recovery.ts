// What the fence says of new payments and of readiness.
import type { OpenRestore } from '../db/platform/fence.ts';
import { inRecovery, notFenced, type DomainError } from '../domain/errors.ts';
import { RESTORE_TEXTS } from '../domain/fence.ts';

type Recovery = OpenRestore | 'unknown' | null;

/** Why no new payment is recorded; null: it is. */
export function refusalOf(recovery: Recovery): DomainError | null {
  if (recovery === 'unknown') return notFenced();
  return recovery === null ? null : inRecovery();
}

/** For readiness; null: the service is not in recovery. */
export function reasonOf(recovery: Recovery): string | null {
  if (recovery === 'unknown') return 'the database is not compared with the markers of its fence yet';
  return recovery === null
    ? null
    : `in recovery since ${recovery.foundAt.toISOString()}: ${RESTORE_TEXTS[recovery.reason]}`;
}
