// Bounds the connections of an HTTP server, so that no client takes them all.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './client-address.ts';

export type ConnectionLimits = {
  /** Open at the same time. */
  readonly max: number;
  /** The same of one client; null where all connections come from trusted proxies. */
  readonly maxPerAddress: number | null;
};

/** So many of all connections may be open without having sent a request: who opens a connection has one to send. */
const SILENT_SHARE = 0.2;

/** Refuses connections beyond the limits, and ends the oldest silent ones. Both are reported to `onRefused`. */
export function limitConnections(server: Server, limits: ConnectionLimits, onRefused: () => void): void {
  const { max, maxPerAddress } = limits;
  const maxSilent = Math.ceil(max * SILENT_SHARE);
  const openByNetwork = new Map<string, number>();
  // In the order in which they were opened.
  const silent = new Set<Socket>();
  server.maxConnections = max;
  server.on('drop', onRefused);
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const open = openByNetwork.get(network) ?? 0;
    if (maxPerAddress !== null && open >= maxPerAddress) {
      onRefused();
      socket.destroy();
      return;
    }
    openByNetwork.set(network, open + 1);
    silent.add(socket);
    socket.once('close', () => {
      silent.delete(socket);
      const others = (openByNetwork.get(network) ?? 1) - 1;
      if (others > 0) openByNetwork.set(network, others);
      else openByNetwork.delete(network);
    });
    const [oldest] = silent;
    if (silent.size <= maxSilent || !oldest) return;
    onRefused();
    oldest.destroy();
  });
  const hasSpoken = ({ socket }: IncomingMessage): void => void silent.delete(socket);
  server.on('request', hasSpoken);
  server.on('checkExpectation', hasSpoken);
}
