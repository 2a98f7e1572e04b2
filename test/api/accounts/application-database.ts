// The acts of an attacker with the application’s account of the database.
import { createHash } from 'node:crypto';
import type { QueryResult } from 'pg';
import type { ApiResponse } from '../../support/api.ts';
import { forgetUsedCodes, PASSWORD, type TestPerson } from '../../support/people.ts';
import { openBrowser } from '../../support/browser.ts';
import type { TestEnvironment } from '../../support/test-environment.ts';
import { withClient } from '../../support/one-client.ts';

export const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest();

/** Runs statements with the account of the application, as a thief of its address could. */
export function applicationDatabase(testEnv: TestEnvironment): {
  query: (sql: string, values?: unknown[]) => Promise<QueryResult>;
} {
  return {
    query: (sql, values = []) =>
      withClient(testEnv.config.settings.MALIPO_DATABASE_URL.reveal(), (client) => client.query(sql, values)),
  };
}

/** A log-in with the person’s password, or with these fields, past the limits of attempts. */
export async function tryToLogIn(
  testEnv: TestEnvironment,
  person: TestPerson,
  fields: object = {},
): Promise<ApiResponse> {
  await testEnv.db.pool.query('DELETE FROM attempt_counters');
  await forgetUsedCodes(testEnv, person);
  const json = { email: person.email, password: PASSWORD, ...fields };
  return openBrowser(testEnv.baseUrl).call('POST', '/v1/console/session', { json });
}
