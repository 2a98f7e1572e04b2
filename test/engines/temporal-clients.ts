// Clients of the Temporal servers that a test starts.
import { Client, Connection } from '@temporalio/client';
import type { TemporalServer } from '../../src/engines/temporal/server.ts';
import type { Throwaway } from './throwaway.ts';

export const NAMESPACE = 'malipo-test';

/** For the namespace of the tests; it is closed with the rest of the test. */
export async function clientOf({ address }: TemporalServer, defer: Throwaway['defer']): Promise<Client> {
  const connection = await Connection.connect({ address });
  defer(() => connection.close());
  return new Client({ connection, namespace: NAMESPACE });
}
