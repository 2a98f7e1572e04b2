// Resolves a host name within a time limit of its own, without delaying any other look-up.
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

export type NameLookup = {
  /** Every public-DNS address of both families that arrives in time, IPv4 first. Throws NameLookupError without one. */
  find(hostname: string): Promise<readonly LookupAddress[]>;
  /** Cancels the look-ups in progress. */
  close(): void;
};

export type NameLookupOptions = {
  /** Limits the whole look-up: all servers, all tries, both families. */
  readonly timeoutMs: number;
  /** `address` or `address:port`; the machine's own when absent. */
  readonly nameServers?: readonly string[];
};

/** Its message tells the merchant why there is no address. */
export class NameLookupError extends Error {
  readonly code = 'NAME_LOOKUP_FAILED';
}

const TRIES = 2;
/** Some name servers never answer for one family: after an address of the other, wait only this much longer. */
const OTHER_FAMILY_MS = 1000;

export function createNameLookup({ timeoutMs, nameServers }: NameLookupOptions): NameLookup {
  const active = new Set<Resolver>();

  async function find(hostname: string): Promise<readonly LookupAddress[]> {
    // Not the system's resolver: its few threads wait for dead name servers and block all other look-ups. A resolver for
    // each look-up is cheap and can be cancelled alone.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / (TRIES + 1)), tries: TRIES });
    if (nameServers) resolver.setServers(nameServers);
    active.add(resolver);
    const giveUp = () => {
      resolver.cancel();
    };
    const timers = [setTimeout(giveUp, timeoutMs)];
    const resolve = async (family: 4 | 6): Promise<LookupAddress[]> => {
      const found = await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname));
      timers.push(setTimeout(giveUp, OTHER_FAMILY_MS));
      return found.map((address) => ({ address, family }));
    };
    try {
      const answers = await Promise.allSettled([resolve(4), resolve(6)]);
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (found.length > 0) return found;
      throw new NameLookupError(describeMissing(answers.map(codeOf)));
    } finally {
      for (const timer of timers) clearTimeout(timer);
      active.delete(resolver);
    }
  }

  return {
    find,
    close() {
      for (const resolver of active) resolver.cancel();
    },
  };
}

/** An answer without addresses counts as ENODATA: an alias of a name without addresses gives such an answer. */
function codeOf(answer: PromiseSettledResult<unknown>): string {
  return answer.status === 'rejected' ? String((answer.reason as NodeJS.ErrnoException).code) : 'ENODATA';
}

const KNOWN_CODES = ['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ETIMEOUT', 'ECANCELLED'];

/** Chooses the less definite of two reasons. */
function describeMissing(codes: readonly string[]): string {
  if (codes.includes('ETIMEOUT') || codes.includes('ECANCELLED')) return 'no name server answered in time';
  if (codes.some((code) => !KNOWN_CODES.includes(code))) return 'the name servers could not look up the host name';
  if (codes.includes('EBADNAME')) return 'the host name is not valid';
  return codes.includes('ENODATA') ? 'the host name has no address' : 'the host name was not found';
}
