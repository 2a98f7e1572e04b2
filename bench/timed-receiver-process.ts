// A webhook receiver in its own process. It responds 200 after the time in the path (`/50`), to any number of requests at once, and
// notes when each event came first.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nowMs } from './now.ts';

const arrivals = new Map<string, number>();

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const id = String(request.headers['malipo-event-id']);
    if (!arrivals.has(id)) arrivals.set(id, nowMs());
    setTimeout(() => response.writeHead(200).end(), Number(request.url?.split('/')[1]));
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
// Whoever asks gets what came since.
process.on('message', () => {
  process.send?.([...arrivals]);
  arrivals.clear();
});
process.on('disconnect', () => process.exit(0));
