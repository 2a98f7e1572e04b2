// Webhook receivers in a process of their own. Each answers 200 after the time in the path (`/50/3`: receiver 3, 50 ms), and
// works on so many requests at once as a small web server would; the others wait in its line.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const WORKERS = Number(process.argv[2]);

type Desk = { busy: number; readonly line: (() => void)[] };
const desks = new Map<string, Desk>();

function serve(path: string, answer: () => void): void {
  const desk = desks.get(path) ?? { busy: 0, line: [] };
  desks.set(path, desk);
  const workMs = Number(path.split('/')[1]);
  const begin = (): void => {
    desk.busy += 1;
    setTimeout(() => {
      answer();
      desk.busy -= 1;
      desk.line.shift()?.();
    }, workMs);
  };
  if (desk.busy < WORKERS) begin();
  else desk.line.push(begin);
}

const server = createServer((request, response: ServerResponse) => {
  request.resume().on('end', () => {
    serve(request.url ?? '/', () => response.writeHead(200).end());
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
