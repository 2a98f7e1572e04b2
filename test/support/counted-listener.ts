// A listener on every address of this machine that counts who connects, whatever they then say.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export type CountedListener = {
  readonly port: number;
  /** Connections that came so far. */
  connections(): number;
  /** Those that are open. */
  open(): number;
  stop(): Promise<void>;
};

/** Gets a connection and the head of each request on it. */
export type Serve = (socket: Socket, requestHead: string) => void;

export type CountedListenerOptions = {
  /** 200 and the end by default. */
  readonly serve?: Serve;
  /** Before anything was said. */
  readonly greet?: (socket: Socket) => void;
  /** Every address by default. */
  readonly host?: string;
  /** Over TLS: only who agreed on a connection is counted. */
  readonly tls?: TlsOptions;
};

export async function startCountedListener(options: CountedListenerOptions = {}): Promise<CountedListener> {
  const { serve = answerAndClose, greet, host, tls } = options;
  const sockets = new Set<Socket>();
  let connections = 0;
  const take = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    greet?.(socket);
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
  };
  const server = tls ? createTlsServer(tls, take) : createServer(take);
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
