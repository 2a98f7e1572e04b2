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

/** For readiness; null: the service is not in recovery. Before the first comparison a process serves nobody. */
export function readinessOf(recovery: Recovery): { readonly reason: string; readonly isServing: boolean } | null {
  if (recovery === null) return null;
  if (recovery === 'unknown')
    return { reason: 'the database is not compared with the markers of its fence yet', isServing: false };
  const since = recovery.foundAt.toISOString();
  return { reason: `in recovery since ${since}: ${RESTORE_TEXTS[recovery.reason]}`, isServing: true };
}
