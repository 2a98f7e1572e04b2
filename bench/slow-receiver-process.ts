// Webhook receivers in their own process. Each responds 200 after the time in the path (`/50/3`: receiver 3, 50 ms).
// Like a small web server, it works on a limited number of requests at once; the others wait in its queue.
import { serve } from './serve.ts';

const WORKERS = Number(process.argv[2]);

type Receiver = { busy: number; readonly queue: (() => void)[] };
const receivers = new Map<string, Receiver>();

function work(path: string, respond: () => void): void {
  const receiver = receivers.get(path) ?? { busy: 0, queue: [] };
  receivers.set(path, receiver);
  const workMs = Number(path.split('/')[1]);
  const begin = (): void => {
    receiver.busy += 1;
    setTimeout(() => {
      respond();
      receiver.busy -= 1;
      receiver.queue.shift()?.();
    }, workMs);
  };
  if (receiver.busy < WORKERS) begin();
  else receiver.queue.push(begin);
}

serve((request, response) => {
  request.resume().on('end', () => {
    work(request.url ?? '/', () => response.writeHead(200).end());
  });
});
