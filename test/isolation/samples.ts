// A valid call of every operation, with everything that must exist for it to succeed.
import { requiresSecondFactor, type Role } from '../../src/domain/accounts/member.ts';
import { OPERATIONS } from './access.ts';
import type { Sample, SampleContext } from './operation.ts';

/** What a person must be for the operation to succeed, besides being in a role that may call it. */
export function callerOptions(operationId: string): { readonly hasSecondFactor?: boolean } {
  const hasSecondFactor = OPERATIONS[operationId]?.hasSecondFactor;
  return hasSecondFactor === undefined ? {} : { hasSecondFactor };
}

/** Whether somebody in this role is refused although they may call it: their role requires their only second factor. */
export function keepsLastFactor(operationId: string, role: Role): boolean {
  return operationId === 'removeSecondFactor' && requiresSecondFactor([role]);
}

/** A role in which the operation succeeds. */
export function roleFor(operationId: string): Role {
  return keepsLastFactor(operationId, 'owner') ? 'viewer' : 'owner';
}

/** Fails with the operation's id if it has no sample. */
export async function sampleOf(operationId: string, context: SampleContext): Promise<Sample> {
  const operation = OPERATIONS[operationId];
  if (!operation)
    throw new Error(
      `the isolation tests do not know ${operationId}: state who may call it, and a call, in test/isolation/operations`,
    );
  return operation.sample(context);
}
