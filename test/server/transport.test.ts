// Connections to PostgreSQL and Temporal over TLS: with the right certificates everything works, with any other ones nothing does.
import assert from 'node:assert/strict';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { NativeConnection } from '@temporalio/worker';
import { loadConfig } from '../../src/settings/config.ts';
import { statement } from '../../src/db/platform/database.ts';
import { listen } from '../../src/db/platform/listener.ts';
import { migrate } from '../../src/db/platform/migrate.ts';
import { temporalTarget } from '../../src/temporal/transport.ts';
import { createAuthority } from '../support/certificates.ts';
import {
  createTestDatabase,
  postgres,
  prepareRuntime,
  runFolder,
  temporal,
  testLog,
  type TestDatabase,
  openAt,
} from '../support/engines.ts';
import { eventually } from '../support/test-environment.ts';
import { openTlsFront, pemFile, turnOnTls, type TlsFront } from '../support/tls.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { pay, untilState } from '../support/payments.ts';

const HOST = '127.0.0.1';
const trusted = createAuthority('trusted authority');
const stranger = createAuthority('another authority');
const PLAIN = {
  MALIPO_SECRET_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
  MALIPO_ATTESTATION_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
  MALIPO_OPERATOR_KEYS: `a:${Buffer.alloc(32, 2).toString('base64')}`,
  MALIPO_DATABASE_URL: 'postgres://a:b@127.0.0.1/malipo',
};

const fileOf = (name: string, text: string): string => pemFile(runFolder(), name, text);

describe('a connection to PostgreSQL', () => {
  let database: TestDatabase;
  let turnOff: () => Promise<void>;
  let authorities: Readonly<Record<'trusted' | 'stranger', string>>;

  before(async () => {
    authorities = {
      trusted: fileOf('trusted.pem', trusted.cert),
      stranger: fileOf('stranger.pem', stranger.cert),
    };
    turnOff = await turnOnTls(await postgres(), trusted.issue({ hosts: [HOST] }));
    database = await createTestDatabase();
  });
  after(async () => {
    await database.drop();
    await turnOff();
  });

  const verified = (url: string, authority: 'trusted' | 'stranger'): string =>
    `${url}?sslmode=verify-full&sslrootcert=${authorities[authority]}`;

  async function isEncrypted(url: string): Promise<boolean> {
    const db = openAt(url, { poolSize: 1 });
    try {
      const [row] = await db.run<{ ssl: boolean }>(
        statement('test_ssl')`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
        [],
      );
      return row?.ssl === true;
    } finally {
      await db.close();
    }
  }

  it('is encrypted and verified when the address asks for it', async () => {
    assert.equal(await isEncrypted(verified(database.url, 'trusted')), true);
    assert.equal(await isEncrypted(database.url), false);
  });

  it('is refused when another authority signed the certificate', async () => {
    await assert.rejects(isEncrypted(verified(database.url, 'stranger')), /certificate/);
    await assert.rejects(migrate(verified(database.ownerUrl, 'stranger')), /certificate/);
  });

  it('is refused when the certificate is for another host', async () => {
    const url = verified(database.url, 'trusted').replace(`@${HOST}:`, '@localhost:');
    await assert.rejects(isEncrypted(url), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('is refused when the server has no TLS, and never plain instead', async () => {
    await turnOff();
    await eventually('TLS to be off', async () =>
      isEncrypted(verified(database.url, 'trusted')).then(
        () => null,
        (error: unknown) => String(error).includes('does not support SSL'),
      ),
    );
    turnOff = await turnOnTls(await postgres(), trusted.issue({ hosts: [HOST] }));
    await eventually('TLS to be on', () => isEncrypted(verified(database.url, 'trusted')).catch(() => false));
  });

  it('migrates and listens in the same way', async () => {
    assert.deepEqual(await migrate(verified(database.ownerUrl, 'trusted')), []);
    let calls = 0;
    const url = verified(database.url, 'trusted');
    const listener = listen({ url, channel: 'test', onNotified: () => (calls += 1), log: testLog });
    await eventually('the listener to be connected', () => calls > 0);
    const { rows } = await database.db.pool.query(
      "SELECT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'malipo-listener' AND a.datname = current_database()",
    );
    assert.deepEqual(rows, [{ ssl: true }]);
    await listener.close();
  });
});

describe('a connection to Temporal', () => {
  let front: TlsFront;
  const client = trusted.issue({ hosts: ['malipo'] });

  before(async () => {
    await prepareRuntime();
    front = await openTlsFront((await temporal()).address, {
      ...trusted.issue({ hosts: ['temporal.example'] }),
      ca: trusted.cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
  });
  after(() => front.close());

  const SECURED = () => ({
    MALIPO_TEMPORAL_ADDRESS: front.address,
    MALIPO_TEMPORAL_TLS: 'true',
    MALIPO_TEMPORAL_TLS_CA_FILE: fileOf('trusted.pem', trusted.cert),
    MALIPO_TEMPORAL_TLS_SERVER_NAME: 'temporal.example',
    MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE: fileOf('client.crt', client.cert),
    MALIPO_TEMPORAL_TLS_KEY_FILE: fileOf('client.key', client.key),
  });
  const connect = async (settings: Readonly<Record<string, string>>): Promise<void> => {
    const connection = await NativeConnection.connect(temporalTarget(loadConfig({ ...PLAIN, ...settings }).settings));
    await connection.close();
  };

  it('is made with the authority, the name and our own certificate', async () => {
    await connect(SECURED());
  });

  const wrong: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
    'another authority signed the server’s certificate': () => ({
      MALIPO_TEMPORAL_TLS_CA_FILE: fileOf('stranger.pem', stranger.cert),
    }),
    'the certificate is for another name': () => ({ MALIPO_TEMPORAL_TLS_SERVER_NAME: 'other.example' }),
    'we show no certificate': () => ({ MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE: '', MALIPO_TEMPORAL_TLS_KEY_FILE: '' }),
    'another authority signed our certificate': () => {
      const { cert, key } = stranger.issue({ hosts: ['malipo'] });
      return {
        MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE: fileOf('strange.crt', cert),
        MALIPO_TEMPORAL_TLS_KEY_FILE: fileOf('strange.key', key),
      };
    },
    'we speak plain text': () => ({
      MALIPO_TEMPORAL_TLS: 'false',
      ...Object.fromEntries(
        Object.keys(SECURED())
          .slice(2)
          .map((name) => [name, '']),
      ),
    }),
  };
  for (const [when, settings] of Object.entries(wrong)) {
    it(`is refused when ${when}`, async () => {
      await assert.rejects(connect({ ...SECURED(), ...settings() }));
    });
  }

  it('shows the API key', async () => {
    const seen: unknown[] = [];
    const server = createSecureServer(trusted.issue({ hosts: ['temporal.example'] }), (request, response) => {
      seen.push(request.headers.authorization);
      // gRPC's UNAUTHENTICATED.
      response.writeHead(200, { 'content-type': 'application/grpc', 'grpc-status': '16' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    const { port } = server.address() as AddressInfo;
    const { MALIPO_TEMPORAL_TLS_CA_FILE, MALIPO_TEMPORAL_TLS_SERVER_NAME } = SECURED();
    await connect({
      MALIPO_TEMPORAL_ADDRESS: `${HOST}:${port}`,
      MALIPO_TEMPORAL_TLS: 'true',
      MALIPO_TEMPORAL_TLS_CA_FILE,
      MALIPO_TEMPORAL_TLS_SERVER_NAME,
      MALIPO_TEMPORAL_API_KEY: 'key-of-malipo',
    }).catch(() => undefined);
    assert.equal(seen[0], 'Bearer key-of-malipo');
    server.close();
  });
});

describe('a server with TLS to both of its engines', () => {
  let front: TlsFront;
  let turnOff: () => Promise<void>;
  const testEnv = useTestEnvironment({ startsServer: false });

  before(async () => {
    front = await openTlsFront((await temporal()).address, trusted.issue({ hosts: [HOST] }));
    turnOff = await turnOnTls(await postgres(), trusted.issue({ hosts: [HOST] }));
    const authority = fileOf('trusted.pem', trusted.cert);
    const url = `${testEnv.environment['MALIPO_DATABASE_URL']}?sslmode=verify-full&sslrootcert=${authority}&application_name=under_test`;
    await testEnv.startServer({
      MALIPO_DATABASE_URL: url,
      MALIPO_TEMPORAL_ADDRESS: front.address,
      MALIPO_TEMPORAL_TLS: 'true',
      MALIPO_TEMPORAL_TLS_CA_FILE: authority,
    });
  });
  after(async () => {
    await front.close();
    await turnOff();
  });

  it('completes a payment, and has no plain connection to the database', async () => {
    await untilState(testEnv, await pay(testEnv, '000'), 'succeeded', 60_000);
    const { rows } = await testEnv.db.pool.query(
      `SELECT DISTINCT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
       WHERE a.datname = current_database() AND a.application_name = 'under_test'`,
    );
    assert.deepEqual(rows, [{ ssl: true }]);
  });
});
