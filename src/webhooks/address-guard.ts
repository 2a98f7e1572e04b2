// Restricts webhooks to the public internet: checks the form of a URL and every address that its host resolves to.
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { parseWebAddress } from '../domain/web-address.ts';
import { createNameLookup, type NameLookupOptions } from './name-lookup.ts';
import { isLoopbackAddress, isPublicAddress } from './public-addresses.ts';

export type AddressGuard = {
  /**
   * Returns why webhooks must not be sent to this URL, as the end of a sentence that begins with the URL; null if they
   * may. Checks everything in the text, including addresses in every notation, parsed as the connection will parse
   * them. The addresses of a host name are checked when it is connected to. Any port except 0 is allowed: the receiver
   * must speak TLS and present a certificate for the host name.
   */
  refuseUrl(url: string): string | null;
  /**
   * A `lookup` function for connections. Each connection looks its name up once and gets only checked addresses, so a
   * name cannot change between check and use. A single forbidden address refuses the whole name, because the service
   * does not choose which of its addresses is used.
   */
  readonly lookup: (
    hostname: string,
    options: LookupOptions,
    callback: (error: Error | null, addresses: LookupAddress[] | string, family?: number) => void,
  ) => void;
  /** Cancels the look-ups in progress. */
  close(): void;
};

export type AddressGuardOptions = Partial<NameLookupOptions> & {
  /** Allows http and https to loopback: for test environments, never for live ones. */
  readonly allowsLoopback: boolean;
};

/** Fails a connection whose host name resolves to an address that is not public. */
export class RefusedAddressError extends Error {
  readonly code = 'ADDRESS_REFUSED';
}

const MAX_URL_LENGTH = 2048;
const NAME_TIMEOUT_MS = 4000;
/** The most addresses of a name that are tried. */
const MAX_ADDRESSES = 8;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const { allowsLoopback, timeoutMs = NAME_TIMEOUT_MS } = options;
  const nameLookup = createNameLookup({ ...options, timeoutMs });
  const isAllowed = (address: string) => isPublicAddress(address) || (allowsLoopback && isLoopbackAddress(address));

  async function findAllowed(hostname: string): Promise<LookupAddress[]> {
    // Name servers are not queried for the machine's own name and cannot redirect it.
    const addresses = isLoopbackName(hostname) ? LOOPBACK : await nameLookup.find(hostname);
    if (addresses.every(({ address }) => isAllowed(address))) return addresses.slice(0, MAX_ADDRESSES);
    throw new RefusedAddressError('the name leads to an address that is not of the public internet');
  }

  return {
    refuseUrl(text) {
      if (text.length > MAX_URL_LENGTH) return `it is longer than ${MAX_URL_LENGTH} characters`;
      const url = parseWebAddress(text);
      if (url === null) return whyNoAddress(text);
      if (url.username !== '' || url.password !== '') return 'it holds credentials';
      if (url.port === '0') return 'it names port 0';
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const isLoopback = isLoopbackAddress(host) || isLoopbackName(host);
      const isRefused = isLoopback ? !allowsLoopback : isIP(host) !== 0 && !isAllowed(host);
      if (isRefused) return 'its address is not one of the public internet';
      if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return null;
      return 'it does not begin with https://';
    },

    lookup(hostname, { all }, callback) {
      findAllowed(hostname).then(
        (addresses) => {
          const [first] = addresses;
          if (all === true || !first) callback(null, addresses);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => {
          callback(error as Error, []);
        },
      );
    },

    close() {
      nameLookup.close();
    },
  };
}

function whyNoAddress(text: string): string {
  if (!URL.canParse(text)) return 'it is not an absolute URL';
  return /^https?:$/.test(new URL(text).protocol)
    ? 'it names no host that every program reads alike'
    : 'it does not begin with https://';
}

function isLoopbackName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}
