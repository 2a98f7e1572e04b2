// TLS for the tests' engines: a PostgreSQL that speaks it, and a server with TLS in front of one that does not.
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { createConnection, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import type { PostgresAccess } from '../../src/engines/postgres/server.ts';
import type { Certificate } from './certificates.ts';
import { queryAt } from './one-client.ts';

/** Writes a text to a file of the run, and returns its path. */
export function pemFile(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** The server speaks TLS with this certificate from now on, beside plain connections; returns how to end that. */
export async function turnOnTls(server: PostgresAccess, { key, cert }: Certificate): Promise<() => Promise<void>> {
  const { uid, gid } = statSync(join(server.dataDir, 'cluster'));
  const files = {
    ssl_key_file: pemFile(server.dataDir, 'server.key', key),
    ssl_cert_file: pemFile(server.dataDir, 'server.crt', cert),
  };
  for (const file of Object.values(files)) chownSync(file, uid, gid);
  await alter(server, [...Object.entries(files), ['ssl', 'on']]);
  return () => alter(server, [['ssl', 'off']]);
}

async function alter(server: PostgresAccess, settings: readonly (readonly [string, string])[]): Promise<void> {
  const alterations = settings.map(([name, value]) => `ALTER SYSTEM SET ${name} = '${value}'`);
  await queryAt(server.adminUrl, ...alterations, 'SELECT pg_reload_conf()');
}

export type TlsFront = { readonly address: string; close(): Promise<void> };

/** Speaks TLS as gRPC does, and forwards what is inside to `target`, a host and port. */
export async function openTlsFront(target: string, options: TlsOptions): Promise<TlsFront> {
  const [host, port] = target.split(':');
  const sockets = new Set<Socket>();
  const track = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    // A client that trusts nobody hangs up.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server = createServer({ ALPNProtocols: ['h2'], ...options }, (near) => {
    const far = createConnection(Number(port), host);
    track(near, far);
    track(far, near);
    near.pipe(far).pipe(near);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
