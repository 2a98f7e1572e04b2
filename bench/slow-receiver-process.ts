// Webhook receivers in their own process. Each responds 200 after the time in the path (`/50/3`: receiver 3, 50 ms).
// Like a small web server, it works on a limited number of requests at once; the others wait in its queue.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const WORKERS = Number(process.argv[2]);

type Receiver = { busy: number; readonly queue: (() => void)[] };
const receivers = new Map<string, Receiver>();

function serve(path: string, respond: () => void): void {
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

const server = createServer((request, response: ServerResponse) => {
  request.resume().on('end', () => {
    serve(request.url ?? '/', () => response.writeHead(200).end());
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
