// Starts and stops listening for HTTP requests.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const CLOSE_IDLE_EVERY_MS = 100;
/**
 * Connections are kept alive longer than common proxies keep them, so that no request arrives on a closing connection.
 */
export const HTTP_LIMITS = { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 75_000 };

/** Starts listening; returns the port. */
export async function listenOn(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Lets requests finish, closes connections as they become idle, and cuts what still runs after the request time-out.
 */
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
