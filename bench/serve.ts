// A server in its own process: it reports its port to its parent, and ends with it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export function serve(handle: (request: IncomingMessage, response: ServerResponse) => unknown): void {
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on('disconnect', () => process.exit(0));
}
