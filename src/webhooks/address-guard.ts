// Keeps webhooks from reaching anything but the public internet: checks the URL's form and every address it leads to.
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { createNameLookup, type NameLookupOptions } from './name-lookup.ts';
import { isLoopbackAddress, isPublicAddress } from './public-addresses.ts';

export type AddressGuard = {
  /**
   * Why this URL may not be sent to, as the end of a sentence that begins with the URL; null when it may. Checks all that
   * the text shows, addresses in every notation too, as the connection will read them; what a name leads to is checked
   * when it is connected to. Any port but 0 may be named: who answers there must speak TLS and show the name's certificate.
   */
  refuseUrl(url: string): string | null;
  /**
   * A `lookup` for connections. Each connection looks its name up once and gets nothing but what was checked, so a name
   * cannot change in between. One address that is not allowed refuses the name: which one is used is not ours to choose.
   */
  readonly lookup: (
    hostname: string,
    options: LookupOptions,
    callback: (error: Error | null, addresses: LookupAddress[] | string, family?: number) => void,
  ) => void;
  /** Ends the look-ups that are under way. */
  close(): void;
};

export type AddressGuardOptions = Partial<NameLookupOptions> & {
  /** Opens http and https to loopback: for test environments, never for live ones. */
  readonly allowsLoopback: boolean;
};

/** Thrown into a connection whose name leads to an address that is not public. */
export class RefusedAddressError extends Error {
  readonly code = 'ADDRESS_REFUSED';
}

const MAX_URL_LENGTH = 2048;
const NAME_TIMEOUT_MS = 4000;
/** A name that leads to thousands of addresses must not make us knock at each. */
const MAX_ADDRESSES = 8;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const { allowsLoopback, timeoutMs = NAME_TIMEOUT_MS } = options;
  const names = createNameLookup({ ...options, timeoutMs });
  const isAllowed = (address: string) => isPublicAddress(address) || (allowsLoopback && isLoopbackAddress(address));

  async function findAllowed(hostname: string): Promise<LookupAddress[]> {
    // No name server is asked for the machine's own name, nor may one say where it leads.
    const addresses = isLoopbackName(hostname) ? LOOPBACK : await names.find(hostname);
    if (addresses.every(({ address }) => isAllowed(address))) return addresses.slice(0, MAX_ADDRESSES);
    throw new RefusedAddressError('the name leads to an address that is not of the public internet');
  }

  return {
    refuseUrl(text) {
      if (text.length > MAX_URL_LENGTH) return `it is longer than ${MAX_URL_LENGTH} characters`;
      if (!URL.canParse(text)) return 'it is not an absolute URL';
      const url = new URL(text);
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
      names.close();
    },
  };
}

function isLoopbackName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}
