// Wakes the dispatchers after a commit that recorded deliveries whose first attempt is owed.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import type { Log } from '../log.ts';

export type DispatcherWake = {
  wake(): void;
  /** Names the dispatcher of this process, until the returned function is called. */
  serve(wakeOwn: () => void): () => void;
  /** Notifies nobody any more, and waits for the notification under way. */
  close(): Promise<void>;
};

export type DispatcherWakeOptions = {
  /** Notifies the dispatchers of all processes, in no transaction of anything else. */
  readonly notify: () => Promise<void>;
  readonly log: Log;
};

/**
 * Wakes the dispatcher of this process, which then claims what is owed; without one, those of the others: by one notification at a
 * time, and one more for all that is recorded meanwhile. What is missed waits for the next tick of a dispatcher.
 */
export function createDispatcherWake({ notify, log }: DispatcherWakeOptions): DispatcherWake {
  let wakeOwn: (() => void) | null = null;
  const notifications = createCoalescingLoop({
    pass: notify,
    onError(error) {
      log.warn({ error }, 'the dispatchers could not be notified; deliveries wait for their next tick');
    },
  });

  return {
    wake() {
      if (wakeOwn) wakeOwn();
      else notifications.wake();
    },
    serve(own) {
      wakeOwn = own;
      return () => {
        wakeOwn = null;
      };
    },
    close: notifications.stop,
  };
}
