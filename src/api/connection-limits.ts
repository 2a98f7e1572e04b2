// Bounds the connections of an HTTP server, so that no client can occupy all of them.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './client-address.ts';

export type ConnectionLimits = {
  readonly max: number;
  /** The most open connections of one client; null if all connections come from trusted proxies. */
  readonly maxPerAddress: number | null;
};

/** The share of connections that may be open without a request so far. A normal client sends one at once. */
const SILENT_SHARE = 0.2;

/** Refuses connections beyond the limits, and closes the oldest silent ones. Reports both to `onRefused`. */
export function limitConnections(server: Server, limits: ConnectionLimits, onRefused: () => void): void {
  const { max, maxPerAddress } = limits;
  const maxSilent = Math.ceil(max * SILENT_SHARE);
  const openByNetwork = new Map<string, number>();
  // In the order in which the connections were opened.
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
