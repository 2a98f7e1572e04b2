// Network addresses in one spelling, blocks of addresses, and whether a list of blocks has an address.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const BITS = { ipv4: 32, ipv6: 128 } as const;
const BITS_BEFORE_IPV4 = 96;

/**
 * The address; `::ffff:203.0.113.7` becomes IPv4. Null for any other text: a name, a zone, a short, octal or
 * hexadecimal form, and an IPv4-compatible address (`::203.0.113.7`), which is deprecated and belongs to nobody.
 */
export function readAddress(text: string): Address | null {
  // Node's check is strict. ipaddr.js accepts all these forms, and reads an IPv4-compatible address as IPv4.
  if (isIP(text) === 0 || /%|^::[0-9]+\./.test(text)) return null;
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv6 && isIpv4Compatible(address) ? null : address;
}

/**
 * The block in the one spelling of stored lists, `203.0.113.7/32` for a single address. Null for text that is neither
 * address nor block, and for a block with bits beyond its prefix, because it is unclear whether the block or the
 * address was meant.
 */
export function parseBlock(text: string): string | null {
  const [, written = '', prefix] = /^([^/]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  const address = readAddress(written);
  if (address === null) return null;
  const bits = BITS[address.kind()];
  const isMapped = bits === BITS.ipv4 && written.includes(':');
  const length = prefix === undefined ? bits : Number(prefix) - (isMapped ? BITS_BEFORE_IPV4 : 0);
  if (length < 0 || length > bits || hasBitsBeyond(address, length)) return null;
  return `${address.toString()}/${length}`;
}

/** Whether one of the blocks has the address. None has an unknown address (null), and no IPv6 block an IPv4 one. */
export function isInBlocks(address: string | null, blocks: readonly string[]): boolean {
  const found = address === null ? null : readAddress(address);
  if (found === null) return false;
  const allowed = blocks.map((block) => ipaddr.parseCIDR(block));
  return ipaddr.subnetMatch(found, { allowed }, 'other') === 'allowed';
}

// All of ::/96 but `::` and the loopback address `::1`. PostgreSQL writes these as `::a.b.c.d` too.
function isIpv4Compatible({ parts }: ipaddr.IPv6): boolean {
  const [high = 0, low = 0] = parts.slice(6);
  return parts.slice(0, 6).every((part) => part === 0) && (high !== 0 || low > 1);
}

function hasBitsBeyond(address: Address, length: number): boolean {
  return address.toByteArray().some((byte, index) => {
    const kept = Math.min(8, Math.max(0, length - index * 8));
    return (byte & (0xff >> kept)) !== 0;
  });
}
