// A TCP line to a real server that a test can cut, or make silent, and mend again.
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type TcpLine = {
  /** The given address with this line in front of it. */
  readonly url: string;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Connections stay, new ones are taken, and nothing is carried either way any more. */
  silence(): void;
  /** Carries new connections again, at the same address. What was silent stays so. */
  mend(): Promise<void>;
};

export async function openTcpLine(targetUrl: string): Promise<TcpLine> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let isSilent = false;
  let server: Server | null = null;
  let port = 0;

  function keep(socket: Socket, other: () => Socket | null): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other()?.destroy();
    });
  }

  function carry(near: Socket): void {
    let far: Socket | null = null;
    keep(near, () => far);
    if (isSilent) return void near.pause();
    far = createConnection(Number(target.port), target.hostname);
    keep(far, () => near);
    near.pipe(far).pipe(near);
  }

  async function open(): Promise<void> {
    isSilent = false;
    if (server !== null) return;
    const opened = createServer(carry);
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
