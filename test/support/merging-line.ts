// A TCP proxy to a real PostgreSQL that withholds what the server sends, and then forwards all of it in one piece.
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

export type MergingLine = {
  /** The given URL through this proxy. */
  readonly url: string;
  /**
   * From now on what the server sends is withheld, beginning with the next message that says that it is ready for a query.
   */
  withhold(): void;
  /** Whether such a message is withheld. */
  isWithholding(): boolean;
  /** Resolves when the server has ended the connection, and what was withheld is forwarded, in one piece. */
  whenForwarded(): Promise<void>;
  close(): Promise<void>;
};

/** ReadyForQuery, with which the server ends each of its responses: its type, its length, and the transaction's state. */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5]);

export async function openMergingLine(targetUrl: string): Promise<MergingLine> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let isArmed = false;
  let withheld: Buffer[] = [];
  let forwarded: () => void = () => undefined;
  const whenForwarded = new Promise<void>((resolve) => {
    forwarded = resolve;
  });

  const server = createServer((near) => {
    const far = createConnection(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    let own: Buffer[] | null = null;
    near.on('data', (sent) => far.write(sent));
    near.on('close', () => far.destroy());
    far.on('data', (sent) => {
      if (isArmed && own === null && sent.subarray(-6, -1).equals(READY_FOR_QUERY)) {
        isArmed = false;
        own = withheld = [];
      }
      if (own === null) near.write(sent);
      else own.push(sent);
    });
    far.on('end', () => {
      if (own === null) {
        near.end();
        return;
      }
      near.end(Buffer.concat(own));
      forwarded();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(targetUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    withhold() {
      isArmed = true;
    },
    isWithholding: () => withheld.length > 0,
    whenForwarded: () => whenForwarded,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
