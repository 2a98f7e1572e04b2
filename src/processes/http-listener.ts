// Begins and ends listening for HTTP requests.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const CLOSE_IDLE_EVERY_MS = 100;
/** Kept alive longer than the usual proxy keeps its side, so that no request meets a connection just closed. */
export const HTTP_LIMITS = { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 75_000 };

/** The port that it listens on. */
export async function listenOn(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Lets requests finish; a connection that falls idle meanwhile is closed then, and what still runs at the limit is cut. */
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
