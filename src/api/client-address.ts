// Whose address a request comes from, as far as we believe it.
import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

type Asked = Pick<Context, 'ip' | 'socket'>;

const UNKNOWN = '0.0.0.0';
const PARTS_OF_A_NETWORK = 4;

/**
 * What our proxies passed on, if that is an address at all, and otherwise the address of the connection. IPv4 written as
 * IPv6 is shown as IPv4, and no zone is.
 */
export function clientAddress({ ip, socket }: Asked): string {
  const text = [ip, socket.remoteAddress ?? ''].find((candidate) => isIP(candidate) !== 0) ?? UNKNOWN;
  return ipaddr.process(withoutZone(text)).toString();
}

/** Who counts as one client: an IPv4 address, or a /64 of IPv6, of which one caller has all addresses. */
export function clientNetwork(asked: Asked): string {
  const address = clientAddress(asked);
  if (!isIPv6(address)) return address;
  return `${ipaddr.IPv6.parse(address).parts.slice(0, PARTS_OF_A_NETWORK).join(':')}::/64`;
}

function withoutZone(address: string): string {
  return address.split('%')[0] ?? address;
}
