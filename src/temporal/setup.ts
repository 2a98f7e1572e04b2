// Prepares a Temporal cluster: the namespace, and the search attributes by which people find payments.
import { isGrpcServiceError } from '@temporalio/client';
import { SearchAttributeType } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import type { TemporalTarget } from './transport.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contract.ts';

export const RETENTION_DAYS = 7;
export const DAY_S = 86_400;
// temporal.api.enums.v1.IndexedValueType
const INDEXED_VALUE_TYPE = { [SearchAttributeType.KEYWORD]: 2 } as const;
export const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const NAMESPACE_WAIT_MS = 30_000;

/** Creates what is missing; safe to repeat and to run from several processes at once. */
export async function prepareTemporal({
  namespace,
  ...target
}: TemporalTarget & { readonly namespace: string }): Promise<void> {
  const connection = await NativeConnection.connect(target);
  try {
    await ensureNamespace(connection, namespace);
    await ensureSearchAttributes(connection, namespace);
  } finally {
    await connection.close();
  }
}

async function ensureNamespace(connection: NativeConnection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return;
  } catch (error) {
    if (!hasCode(error, NOT_FOUND)) throw error;
  }
  await ignoringAlreadyExists(() =>
    connection.workflowService.registerNamespace({
      namespace,
      description: 'Malipo payments',
      workflowExecutionRetentionPeriod: { seconds: RETENTION_DAYS * DAY_S },
    } as never),
  );
}

async function ensureSearchAttributes(connection: NativeConnection, namespace: string): Promise<void> {
  const giveUpAtMs = Date.now() + NAMESPACE_WAIT_MS;
  for (;;) {
    try {
      const missing = await findMissingSearchAttributes(connection, namespace);
      if (missing.length === 0) return;
      await ignoringAlreadyExists(() =>
        connection.operatorService.addSearchAttributes({
          namespace,
          searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_VALUE_TYPE[type]])),
        }),
      );
      return;
    } catch (error) {
      // The server takes a few seconds to see a new namespace everywhere.
      if (Date.now() > giveUpAtMs || !isGrpcServiceError(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** Those of ours that the namespace does not have. */
export async function findMissingSearchAttributes(connection: NativeConnection, namespace: string) {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return Object.values(SEARCH_ATTRIBUTES).filter(({ name }) => !(name in customAttributes));
}

async function ignoringAlreadyExists(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!hasCode(error, ALREADY_EXISTS)) throw error;
  }
}

export function hasCode(error: unknown, code: number): boolean {
  if (!isGrpcServiceError(error)) return false;
  const actual: number = error.code;
  return actual === code;
}
