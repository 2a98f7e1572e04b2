// A collector of OpenTelemetry in its own process: takes whatever it is sent, and counts the bytes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let bytes = 0;
const server = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => (bytes += chunk.length));
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send?.({ bytes }));
process.on('disconnect', () => process.exit(0));
