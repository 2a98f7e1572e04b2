// A TLS server that answers everything with 200, for tests of clients that must not trust it, and the setting that must not matter.
import type { AddressInfo } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';

export type TestTlsServer = {
  readonly port: number;
  /** How many bytes it was sent so far. */
  readonly bytesRead: () => number;
  readonly stop: () => Promise<void>;
};

/** Listens on the loopback address. */
export async function startTlsServer(options: TlsOptions): Promise<TestTlsServer> {
  let bytesRead = 0;
  const server = createServer(options, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      bytesRead += chunk.length;
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    bytesRead: () => bytesRead,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}
