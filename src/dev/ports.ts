// Chooses the ports that embedded servers listen on: the usual port, or a free one, reported by name, when that is
// taken.
import { createServer } from 'node:net';

export type PortRequest = {
  /** What listens there, for messages: "the API". */
  readonly name: string;
  readonly host: string;
  readonly preferred: number;
  /** The setting that chooses this port, for messages: MALIPO_PORT. */
  readonly setting: string;
  /** Whether the setting is set; then a port that is taken is an error. */
  readonly isExplicit: boolean;
  readonly report: (line: string) => void;
};

/**
 * Returns the preferred port when it is free, otherwise another free port, which it reports. Another process may still
 * take the port before the server listens on it.
 */
export async function choosePort({ name, host, preferred, setting, isExplicit, report }: PortRequest): Promise<number> {
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

/** Throws an error with the port and `name` when it is not possible to listen on the port. */
export async function requireFreePort(name: string, port: number, host: string): Promise<void> {
  const obstacle = await obstacleTo(port, host);
  if (obstacle !== undefined) throw new Error(`port ${port} on ${host} for ${name} ${obstacle}`);
}

/** Returns a port on which nothing listens at this moment. */
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
