// A listener on every address of this machine that counts connections, whatever is sent on them.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export type CountedListener = {
  readonly port: number;
  /** The number of connections so far. */
  connections(): number;
  /** The number of open connections. */
  open(): number;
  stop(): Promise<void>;
};

/** Serves one request: gets its connection and its head. */
export type Serve = (socket: Socket, requestHead: string) => void;

export type CountedListenerOptions = {
  /** By default: responds with 200 and closes the connection. */
  readonly serve?: Serve;
  /** Called on a new connection, before anything is read. */
  readonly greet?: (socket: Socket) => void;
  /** All addresses by default. */
  readonly host?: string;
  /** Over TLS: only completed handshakes count. */
  readonly tls?: TlsOptions;
};

export async function startCountedListener(options: CountedListenerOptions = {}): Promise<CountedListener> {
  const { serve = respondAndClose, greet, host, tls } = options;
  const sockets = new Set<Socket>();
  let connections = 0;
  const accept = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    greet?.(socket);
    let head = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      const complete = head;
      head = '';
      serve(socket, complete);
    });
  };
  const server = tls ? createTlsServer(tls, accept) : createServer(accept);
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

function respondAndClose(socket: Socket): void {
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
}
