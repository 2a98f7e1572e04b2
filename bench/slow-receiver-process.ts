// Webhook receivers in a process of their own. Each answers 200 after the time in the path (`/50/3`: receiver 3, 50 ms), and
// works on so many requests at once as a small web server would; the others wait in its line.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const WORKERS = Number(process.argv[2]);

type Receiver = { busy: number; readonly line: (() => void)[] };
const receivers = new Map<string, Receiver>();

function serve(path: string, answer: () => void): void {
  const receiver = receivers.get(path) ?? { busy: 0, line: [] };
  receivers.set(path, receiver);
  const workMs = Number(path.split('/')[1]);
  const begin = (): void => {
    receiver.busy += 1;
    setTimeout(() => {
      answer();
      receiver.busy -= 1;
      receiver.line.shift()?.();
    }, workMs);
  };
  if (receiver.busy < WORKERS) begin();
  else receiver.line.push(begin);
}

const server = createServer((request, response: ServerResponse) => {
  request.resume().on('end', () => {
    serve(request.url ?? '/', () => response.writeHead(200).end());
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
