// A server of the live environment beside a test environment: on its database, with a new stamp, and over TLS.
import { oneRow } from '../db/rows.ts';
import { startAnotherServer } from '../api/responses.ts';
import { attestRow, listAttestedKeys } from '../../src/db/accounts/attested-rows.ts';
import { attestorOf } from './attestation.ts';
import { createAuthority } from './certificates.ts';
import { postgres, runFolder } from './engines.ts';
import type { TestEnvironment } from './test-environment.ts';
import { pemFile, turnOnTls } from './tls.ts';

/** It serves only the API, without Temporal. */
export async function startLiveServer(testEnv: TestEnvironment): Promise<{ readonly baseUrl: string }> {
  const authority = createAuthority('authority of a live server');
  await turnOnTls(await postgres(), authority.issue({ hosts: ['127.0.0.1'] }));
  // As the owner of a database of its own could not: an environment is written once.
  await testEnv.db.pool.query('ALTER TABLE deployment DISABLE TRIGGER USER');
  await oneRow(testEnv.db, "UPDATE deployment SET environment = 'live' RETURNING environment", []);
  for (const key of await listAttestedKeys(testEnv.db, 'operator_accounts', null, 10)) {
    const attestor = attestorOf('live');
    await testEnv.db.withTransaction((tx) => attestRow({ ...tx, attestor }, 'operator_accounts', key));
  }
  const authorityFile = pemFile(runFolder(), 'live-authority.pem', authority.cert);
  const { MALIPO_DATABASE_URL: plain } = testEnv.environment;
  // Too short or too many for the live environment.
  const short = Object.keys(testEnv.environment).filter((name) => /_MS$|_PER_SECOND$|_PER_ADDRESS$/.test(name));
  const asByDefault = Object.fromEntries(short.map((name) => [name, '']));
  return startAnotherServer(testEnv, {
    MALIPO_ENVIRONMENT: 'live',
    MALIPO_CLOCKS: 'real',
    MALIPO_DATABASE_URL: `${plain}?sslmode=verify-full&sslrootcert=${authorityFile}`,
    MALIPO_TEMPORAL_ADDRESS: '127.0.0.1:1',
    MALIPO_TEMPORAL_NAMESPACE: 'live-of-a-test',
    MALIPO_TEMPORAL_TLS: 'true',
    MALIPO_TEMPORAL_API_KEY: 'a key of Temporal',
    ...asByDefault,
    MALIPO_LOG_LEVEL: 'info',
    MALIPO_TRUSTED_PROXIES: '1',
    MALIPO_WEBHOOK_ALLOW_LOOPBACK: 'false',
    MALIPO_PUBLIC_URL: 'https://pay.example',
  });
}
