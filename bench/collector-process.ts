// A collector of OpenTelemetry in its own process: takes whatever it is sent, and counts the bytes.
import { serve } from './serve.ts';

let bytes = 0;
serve((request, response) => {
  request.on('data', (chunk: Buffer) => (bytes += chunk.length));
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
process.on('message', () => process.send?.({ bytes }));
