// The address that a request comes from, as far as the request can be trusted.
import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

type Connected = Pick<Context, 'ip' | 'socket'>;

const UNKNOWN = '0.0.0.0';
const NETWORK_PARTS = 4;

/** The address that trusted proxies passed on, or else that of the connection: IPv4 as IPv4, without a zone. */
export function clientAddress({ ip, socket }: Connected): string {
  const text = [ip, socket.remoteAddress ?? ''].find((candidate) => isIP(candidate) !== 0) ?? UNKNOWN;
  return ipaddr.process(withoutZone(text)).toString();
}

/** The network that counts as one client: an IPv4 address, or a /64 of IPv6, because one caller has all of it. */
export function clientNetwork(request: Connected): string {
  return networkOf(clientAddress(request));
}

/** As `clientNetwork`, for the address of a connection in any spelling. */
export function networkOf(text: string): string {
  if (isIP(text) === 0) return UNKNOWN;
  const address = ipaddr.process(withoutZone(text)).toString();
  if (!isIPv6(address)) return address;
  return `${ipaddr.IPv6.parse(address).parts.slice(0, NETWORK_PARTS).join(':')}::/64`;
}

function withoutZone(address: string): string {
  return address.split('%')[0] ?? address;
}
