// A listener on every address of this machine that counts who connects, whatever they then say.
import { createServer, type AddressInfo, type Socket } from 'node:net';

export type CountedListener = {
  readonly port: number;
  /** Connections that came so far. */
  connections(): number;
  /** Those that are open. */
  open(): number;
  stop(): Promise<void>;
};

/** `serve` gets each connection and all that came over it until its first empty line; 200 and the end by default. */
export async function startCountedListener(
  serve: (socket: Socket, requestHead: string) => void = answerAndClose,
  host?: string,
): Promise<CountedListener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    let head = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      const whole = head;
      head = '';
      serve(socket, whole);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, ...(host !== undefined && { host }) }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerAndClose(socket: Socket): void {
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
}
