// A webhook receiver in its own process. It responds 200 after the time in the path (`/50`), to any number of requests at once, and
// notes when each event came first.
import { nowMs } from './now.ts';
import { serve } from './serve.ts';

const arrivals = new Map<string, number>();

serve((request, response) => {
  request.resume().on('end', () => {
    const id = String(request.headers['malipo-event-id']);
    if (!arrivals.has(id)) arrivals.set(id, nowMs());
    setTimeout(() => response.writeHead(200).end(), Number(request.url?.split('/')[1]));
  });
});
// Anyone who asks gets what came since.
process.on('message', () => {
  process.send?.([...arrivals]);
  arrivals.clear();
});
