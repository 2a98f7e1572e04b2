// A webhook receiver in its own process: responds 200 at once and reports the end of each collection to its parent.
import { serve } from './serve.ts';

const ENDS = new Set(['collection.succeeded', 'collection.failed', 'collection.expired']);

serve((request, response) => {
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
