// Keeps webhooks from reaching anything but the public internet: checks the URL's form and every address it leads to.
import { lookup as resolveHost, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type AddressGuard = {
  /** Why this URL may not be sent to, or null. Literal addresses are checked here, names when they are connected to. */
  refuseUrl(url: string): string | null;
  /** A `lookup` for connections: gives only addresses that were checked, so a name cannot change in between. */
  readonly lookup: (
    hostname: string,
    options: LookupOptions,
    callback: (error: Error | null, addresses: LookupAddress[] | string, family?: number) => void,
  ) => void;
};

/** Thrown into a connection whose name leads to an address that is not public. */
export class RefusedAddressError extends Error {
  readonly code = 'ADDRESS_REFUSED';
}

const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Whether the address is one of the public internet's. Forms that embed or lead to another address are not. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_IPV6);
}

/** `allowsLoopback` opens http and https to loopback addresses: for test environments, never for live ones. */
export function createAddressGuard({ allowsLoopback }: { readonly allowsLoopback: boolean }): AddressGuard {
  const isAllowed = (address: string) => isPublicAddress(address) || (allowsLoopback && isLoopback(address));

  return {
    refuseUrl(text) {
      let url: URL;
      try {
        url = new URL(text);
      } catch {
        return 'it is not an absolute URL';
      }
      if (url.username !== '' || url.password !== '') return 'it holds credentials';
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isAllowed(host)) return 'its address is not one of the public internet';
      if (url.protocol === 'https:') return null;
      const isLocalHost = host === 'localhost' || isLoopback(host);
      return url.protocol === 'http:' && allowsLoopback && isLocalHost ? null : 'it does not begin with https://';
    },

    lookup(hostname, options, callback) {
      resolveHost(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) {
          callback(error, []);
          return;
        }
        // One bad address is enough to refuse the name: which one is used is not ours to choose.
        const refused = addresses.find(({ address }) => !isAllowed(address));
        const [first] = addresses;
        if (refused || !first) {
          callback(new RefusedAddressError('the name leads to an address that is not of the public internet'), []);
        } else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    },
  };
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}
