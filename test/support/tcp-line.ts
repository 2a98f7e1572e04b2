// A TCP proxy to a real server that a test can cut, silence and restore.
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type TcpLine = {
  /** The given URL through this proxy. */
  readonly url: string;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Connections stay open and new ones are accepted, but nothing is forwarded either way. */
  silence(): void;
  /** Forwards new connections again, at the same address. Silent connections stay silent. */
  mend(): Promise<void>;
};

export async function openTcpLine(targetUrl: string): Promise<TcpLine> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let isSilent = false;
  let server: Server | null = null;
  let port = 0;

  function track(socket: Socket, other: () => Socket | null): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other()?.destroy();
    });
  }

  function forward(near: Socket): void {
    let far: Socket | null = null;
    track(near, () => far);
    if (isSilent) return void near.pause();
    far = createConnection(Number(target.port), target.hostname);
    track(far, () => near);
    near.pipe(far).pipe(near);
  }

  async function open(): Promise<void> {
    isSilent = false;
    if (server !== null) return;
    const opened = createServer(forward);
    await new Promise<void>((resolve, reject) => {
      opened.once('error', reject);
      opened.listen(port, '127.0.0.1', resolve);
    });
    port = (opened.address() as AddressInfo).port;
    server = opened;
  }

  await open();
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    mend: open,
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    async cut() {
      const closing = server;
      server = null;
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        if (closing === null) resolve();
        else
          closing.close(() => {
            resolve();
          });
      });
    },
  };
}
