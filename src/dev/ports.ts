// Chooses the ports that embedded servers listen on: the usual one, or a free one when it is taken, said by name.
import { createServer } from 'node:net';

export type PortWish = {
  /** What listens there, as a person would say it: "the API". */
  readonly name: string;
  readonly host: string;
  readonly preferred: number;
  /** The setting that chooses this port, for the message: MALIPO_PORT. */
  readonly setting: string;
  /** Whether somebody chose the port; then it is that port or an error. */
  readonly isExplicit: boolean;
  readonly report: (line: string) => void;
};

/**
 * The preferred port when it can be listened on, else a free one, which is reported. Another process may still take the
 * port before its server does: listening has the last word.
 */
export async function choosePort({ name, host, preferred, setting, isExplicit, report }: PortWish): Promise<number> {
  const obstacle = await obstacleTo(preferred, host);
  if (obstacle === undefined) return preferred;
  if (isExplicit) {
    throw new Error(
      `port ${preferred} for ${name} (${setting}) ${obstacle}. Stop what uses it, or set ${setting} to another port.`,
    );
  }
  const port = await freePort(host);
  report(`port ${preferred} for ${name} ${obstacle}; using ${port} (${setting} chooses another)`);
  return port;
}

/** Throws an error that names the port and what wanted it, when it cannot be listened on. */
export async function requireFreePort(name: string, port: number, host: string): Promise<void> {
  const obstacle = await obstacleTo(port, host);
  if (obstacle !== undefined) throw new Error(`port ${port} on ${host} for ${name} ${obstacle}`);
}

/** A port that nothing listens on at this moment. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  return listenOnce(0, host);
}

async function obstacleTo(port: number, host: string): Promise<string | undefined> {
  try {
    await listenOnce(port, host);
    return undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE') return 'is taken';
    if (code === 'EACCES') return 'may not be used by this account';
    throw error;
  }
}

function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === 'object' && address) resolve(address.port);
        else reject(new Error(`no port was given on ${host}`));
      });
    });
  });
}
