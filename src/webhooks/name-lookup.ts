// Asks name servers for a host's addresses, within a time of its own and without holding up any other look-up.
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

export type NameLookup = {
  /**
   * Every address of both families that came in time, IPv4 first. Throws NameLookupError when there is none. The hosts
   * file and search domains are not asked: a merchant's name means what it means on the public internet.
   */
  find(hostname: string): Promise<readonly LookupAddress[]>;
  /** Ends what is under way. */
  close(): void;
};

export type NameLookupOptions = {
  /** For the whole look-up: all servers, all tries, both families. */
  readonly timeoutMs: number;
  /** `address` or `address:port`; the machine's own when absent. */
  readonly nameServers?: readonly string[];
};

/** Its message says to whom it concerns, in plain words, why there is no address. */
export class NameLookupError extends Error {
  readonly code = 'NAME_LOOKUP_FAILED';
}

const TRIES = 2;
/** Some name servers never answer for IPv6: once there is an IPv4 address, the wait for the other ends soon. */
const OTHER_FAMILY_MS = 1000;

export function createNameLookup({ timeoutMs, nameServers }: NameLookupOptions): NameLookup {
  const underWay = new Set<Resolver>();

  async function find(hostname: string): Promise<readonly LookupAddress[]> {
    // The resolver of the system would do: but its few threads wait for dead name servers, with everybody behind them.
    // One of these per look-up costs nothing, and ends alone.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / (TRIES + 1)), tries: TRIES });
    if (nameServers) resolver.setServers(nameServers);
    underWay.add(resolver);
    const giveUp = () => {
      resolver.cancel();
    };
    const timers = [setTimeout(giveUp, timeoutMs)];
    const ask = async (family: 4 | 6): Promise<LookupAddress[]> => {
      const found = await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname));
      timers.push(setTimeout(giveUp, OTHER_FAMILY_MS));
      return found.map((address) => ({ address, family }));
    };
    try {
      const answers = await Promise.allSettled([ask(4), ask(6)]);
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (found.length > 0) return found;
      throw new NameLookupError(whyNone(answers.map(codeOf)));
    } finally {
      for (const timer of timers) clearTimeout(timer);
      underWay.delete(resolver);
    }
  }

  return {
    find,
    close() {
      for (const resolver of underWay) resolver.cancel();
    },
  };
}

/** An answer without addresses is the same as an answer that says so: a name that stands for another gives it. */
function codeOf(answer: PromiseSettledResult<unknown>): string {
  return answer.status === 'rejected' ? String((answer.reason as NodeJS.ErrnoException).code) : 'ENODATA';
}

const NAMED = ['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ETIMEOUT', 'ECANCELLED'];

/** Of two reasons the one that leaves more open. */
function whyNone(codes: readonly string[]): string {
  if (codes.includes('ETIMEOUT') || codes.includes('ECANCELLED')) return 'no name server answered in time';
  if (codes.some((code) => !NAMED.includes(code))) return 'the name servers could not look up the host name';
  if (codes.includes('EBADNAME')) return 'the host name is not valid';
  return codes.includes('ENODATA') ? 'the host name has no address' : 'the host name was not found';
}
