// A webhook receiver in its own process: responds 200 at once and reports the end of each collection to its parent.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ENDS = new Set(['collection.succeeded', 'collection.failed', 'collection.expired']);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(200).end();
    const event = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      type: string;
      data: { object: { id: string } };
    };
    if (ENDS.has(event.type)) process.send?.({ id: event.data.object.id, atMs: Date.now() });
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
