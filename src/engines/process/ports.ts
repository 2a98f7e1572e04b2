// Chooses the ports of embedded servers: the usual port or, if it is taken, a free one, reported by name.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

export type PortRequest = {
  readonly name: string;
  readonly host: string;
  readonly preferred: number;
  /** The setting that chooses this port, for messages: MALIPO_PORT. */
  readonly setting: string;
  /** Whether the setting is set: a taken port is then an error. */
  readonly isExplicit: boolean;
  /** Ports that are given to others already, although nothing listens there yet. */
  readonly taken?: readonly number[];
  /** How many consecutive ports after it are also used. They are free, unless the setting is set. */
  readonly following?: number;
  readonly report: (line: string) => void;
};

const LOWEST_CHOSEN = 10_000;
/**
 * From here on Linux gives ports to outgoing connections: one may take a port before its server does. Temporal also
 * stores its ports as PostgreSQL's smallint, and a larger one is a fatal error.
 */
const OUTGOING_PORTS = 32_768;
const MOST_TRIES = 1_000;

/** The preferred port if it is free, else another, which is reported. Another process may take it before the server. */
export async function choosePort(request: PortRequest): Promise<number> {
  const { name, host, preferred, setting, isExplicit, report, taken = [], following = 0 } = request;
  const range = { host, taken, count: isExplicit ? 1 : 1 + following };
  const obstacle = await obstacleInRange(preferred, range);
  if (obstacle === undefined) return preferred;
  if (isExplicit) {
    throw new Error(
      `port ${preferred} for ${name} (${setting}) ${obstacle}. Stop what uses it, or set ${setting} to another port.`,
    );
  }
  const port = await freeRange(range);
  report(`port ${preferred} for ${name} ${obstacle}; using ${port} (${setting} chooses another)`);
  return port;
}

type Range = { readonly host: string; readonly taken: readonly number[]; readonly count: number };

async function freeRange(range: Range): Promise<number> {
  for (;;) {
    const port = await freePort(range.host);
    if ((await obstacleInRange(port, range)) === undefined) return port;
  }
}

async function obstacleInRange(first: number, { host, taken, count }: Range): Promise<string | undefined> {
  for (let port = first; port < first + count; port++) {
    const obstacle = taken.includes(port) ? 'is taken' : await obstacleTo(port, host);
    if (obstacle !== undefined) return port === first ? obstacle : `needs port ${port}, which ${obstacle}`;
  }
  return undefined;
}

/** Throws an error with the port and `name` if no server can listen on the port. */
export async function requireFreePort(name: string, port: number, host: string): Promise<void> {
  const obstacle = await obstacleTo(port, host);
  if (obstacle !== undefined) throw new Error(`port ${port} on ${host} for ${name} ${obstacle}`);
}

/** A port on which nothing listens now, not in `taken`, and below Linux's ports of outgoing connections. */
export async function freePort(host = '127.0.0.1', taken: readonly number[] = []): Promise<number> {
  const { port, close } = await holdFreePort(host, taken);
  await close();
  return port;
}

/** `count` different ports, each as `freePort` gives it. */
export async function freePorts(count: number, host = '127.0.0.1', taken: readonly number[] = []): Promise<number[]> {
  // All are held until the last is known, so that none is given twice.
  const held: HeldPort[] = [];
  try {
    while (held.length < count) held.push(await holdFreePort(host, taken));
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ close }) => close()));
  }
}

async function holdFreePort(host: string, taken: readonly number[]): Promise<HeldPort> {
  for (let tries = 1; ; tries++) {
    let port: number;
    do port = randomInt(LOWEST_CHOSEN, OUTGOING_PORTS);
    while (taken.includes(port));
    try {
      return await listenOn(port, host);
    } catch (error) {
      if (tries === MOST_TRIES || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

async function obstacleTo(port: number, host: string): Promise<string | undefined> {
  try {
    await (await listenOn(port, host)).close();
    return undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE') return 'is taken';
    if (code === 'EACCES') return 'may not be used by this account';
    throw error;
  }
}

type HeldPort = { readonly port: number; readonly close: () => Promise<void> };

async function listenOn(port: number, host: string): Promise<HeldPort> {
  const server = createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
