// Starts and stops listening for HTTP requests.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CannotStart } from './server-parts.ts';

const CLOSE_IDLE_EVERY_MS = 100;
/**
 * Connections are kept alive longer than common proxies keep them, so that no request arrives on a closing connection.
 * Late requests are checked every second: Node's own interval is as long as the time of a whole request.
 */
export const HTTP_LIMITS = {
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1000,
};

export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  /** Which one names the port. */
  readonly setting: string;
};

/**
 * Starts listening; returns the port. Later errors of the server go to `onError`, for example a connection that it
 * could not accept because no more files can be opened.
 */
export async function listenOn(
  server: Server,
  { host, port, setting }: ListenAddress,
  onError: (error: Error) => void,
): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw new CannotStart(`${setting}: ${error instanceof Error ? error.message : String(error)}`);
  });
  // Without a listener, such an error would end the process.
  server.on('error', onError);
  return (server.address() as AddressInfo).port;
}

/** Lets requests finish, closes idle connections, and closes the others after the request timeout. */
export async function closeServer(server: Server): Promise<void> {
  const closingIdle = setInterval(() => {
    server.closeIdleConnections();
  }, CLOSE_IDLE_EVERY_MS);
  const cutting = setTimeout(() => {
    server.closeAllConnections();
  }, HTTP_LIMITS.requestTimeout);
  try {
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
      server.closeIdleConnections();
    });
  } finally {
    clearInterval(closingIdle);
    clearTimeout(cutting);
  }
}
