// Decides which addresses belong to the public internet, by IANA's special-purpose registries and the clouds' own addresses.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IPv4 blocks that are not on the public internet or do not name a single host. All other IPv4 addresses are public. */
const SPECIAL_IPV4 = blocks<ipaddr.IPv4>([
  ['0.0.0.0/8', 'this network, unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT, and 100.100.100.200, metadata at Alibaba'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'the platform’s own service at Azure, whose number looks public'],
  ['169.254.0.0/16', 'link-local, and metadata at most clouds'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'IETF protocol assignments, and 192.0.0.192, metadata at Oracle'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relays and 6a44'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved, limited broadcast'],
]);

/**
 * The part of IPv6 that is assigned as global unicast. It excludes ::/128, ::1/128, IPv4 mapped, compatible and
 * translated (::ffff:0:0/96, ::/96, ::ffff:0:0:0/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only and dummy
 * (100::/64, 100:0:0:1::/64), segment routing (5f00::/16), unique local (fc00::/7, with the metadata of Amazon and
 * Google), link-local (fe80::/10), site-local (fec0::/10), multicast (ff00::/8) and unassigned blocks.
 */
const [GLOBAL_IPV6] = blocks<ipaddr.IPv6>([['2000::/3', 'global unicast']]);

const SPECIAL_IPV6 = blocks<ipaddr.IPv6>([
  ['2001::/23', 'IETF protocol assignments: Teredo, PCP, TURN, benchmarking, AMT, AS112, ORCHID, DRIP'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4: leads to the embedded IPv4 address'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
]);

type Block<Address> = readonly [network: Address, prefixLength: number];

function blocks<Address>(listed: readonly (readonly [cidr: string, what: string])[]): Block<Address>[] {
  return listed.map(([cidr]) => ipaddr.parseCIDR(cidr) as unknown as Block<Address>);
}

/** Whether the text is the full address of one host on the public internet. Names, short forms and zones are not. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return !SPECIAL_IPV4.some(([net, length]) => address.match(net, length));
  const isGlobal = GLOBAL_IPV6 !== undefined && address.match(...GLOBAL_IPV6);
  return isGlobal && !SPECIAL_IPV6.some(([net, length]) => address.match(net, length));
}

/** Whether the text is an address in 127.0.0.0/8 or ::1. Other notations of these do not count. */
export function isLoopbackAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  return address.range() === 'loopback';
}
