// Live updates of the merchant: pages request the changed objects again.
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { usePresence } from '../ui/presence.ts';

type Update = Pick<Schemas['LiveUpdate'], 'kind' | 'id'>;

/** Changes come in bursts; one request covers all changes of a moment. */
const GATHERED_FOR_MS = 250;
/** After an answer that is no stream the browser does not try again by itself. */
const RETRY_AFTER_MS = 10_000;

/** The lists and counts that an update of this kind changes, besides the object itself. */
const SHOWN_IN: Readonly<Record<Update['kind'], readonly string[]>> = {
  collection: ['collections', 'collection', 'checkout', 'balance', 'overview', 'ledger', 'events', 'deliveries'],
  payout: ['payouts', 'payout', 'balance', 'overview', 'ledger', 'session', 'events', 'deliveries'],
  reversal: ['refunds', 'refund', 'refund of', 'collection', 'balance', 'overview', 'ledger', 'session'],
  delivery: ['deliveries', 'delivery', 'event', 'collection', 'payout'],
  endpoint: ['endpoints', 'endpoint', 'overview'],
  replay: ['replays', 'replay'],
  checkout: ['checkouts', 'checkout'],
};

const LiveContext = createContext(false);

/** Whether live updates are arriving at present; otherwise pages poll. */
export function useIsLive(): boolean {
  return useContext(LiveContext);
}

export function LiveUpdates({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const isPresent = usePresence();
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    // Without a present person nothing is requested; a returning person gets everything fresh.
    if (!isPresent) return undefined;
    void client.invalidateQueries();
    return follow(client, setLive);
  }, [client, isPresent]);
  return <LiveContext value={isLive && isPresent}>{children}</LiveContext>;
}

/** Returns a function that ends it. */
function follow(client: QueryClient, setLive: (isLive: boolean) => void): () => void {
  let retry: ReturnType<typeof setTimeout> | undefined;
  const gathered = gather(client);
  let source = open();

  function open(): EventSource {
    const opened = new EventSource('/v1/console/stream');
    opened.addEventListener('ready', ({ data }: MessageEvent<string>) => {
      setLive(true);
      const { resumed } = JSON.parse(data) as Schemas['StreamReady'];
      // Changes in between are not reported.
      if (!resumed) void client.invalidateQueries();
    });
    opened.addEventListener('update', ({ data }: MessageEvent<string>) => gathered.add(JSON.parse(data) as Update));
    opened.addEventListener('error', () => {
      setLive(false);
      if (opened.readyState !== EventSource.CLOSED) return;
      retry = setTimeout(() => {
        source = open();
      }, RETRY_AFTER_MS);
    });
    return opened;
  }
  return () => {
    clearTimeout(retry);
    gathered.stop();
    source.close();
    setLive(false);
  };
}

function gather(client: QueryClient) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stale = new Set<string>();
  return {
    add({ kind }: Update) {
      for (const name of SHOWN_IN[kind]) stale.add(name);
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const name of stale) void client.invalidateQueries({ queryKey: [name] });
        stale.clear();
      }, GATHERED_FOR_MS);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
