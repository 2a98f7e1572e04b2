// Wakes the dispatchers after a commit that recorded deliveries whose first attempt is owed.
import { createCoalescingLoop } from '../coalescing-loop.ts';
import type { Log } from '../log.ts';

export type DispatcherWake = {
  wake(): void;
  /** Registers the dispatcher of this process, until the returned function is called. */
  serve(wakeOwn: () => void): () => void;
  /** Sends no more notifications, and waits for the current one. */
  close(): Promise<void>;
};

export type DispatcherWakeOptions = {
  /** Notifies the dispatchers of all processes, outside any other transaction. */
  readonly notify: () => Promise<void>;
  readonly log: Log;
};

/**
 * Wakes the dispatcher of this process, which then claims the owed deliveries. Without one, it notifies those of other
 * processes: one notification at a time, and one more for all recorded meanwhile. A missed delivery waits for a tick.
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
