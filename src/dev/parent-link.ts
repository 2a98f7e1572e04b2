// The child's side of a supervised process: says that it is ready, and leaves when its parent is gone.

/** The message that a parent waits for. */
export const READY_MESSAGE = 'ready';

const SHUTDOWN_LIMIT_MS = 10_000;

/** Tells the parent that this process does its work now. Does nothing in a process that was started by hand. */
export function reportReady(): void {
  if (process.connected) process.send?.(READY_MESSAGE);
}

/**
 * Ends this process once its parent has ended, even by SIGKILL: the channel between them closes then. `shutdown` may finish
 * what is under way, within ten seconds. Does nothing in a process that was started by hand.
 */
export function exitWithParent(shutdown: () => Promise<void> = () => Promise.resolve()): void {
  if (process.send === undefined) return;
  const leave = (): void => {
    setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS).unref();
    shutdown().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  if (process.connected) process.once('disconnect', leave);
  else leave();
  // Waiting for the parent's end must not keep a process alive that has finished by itself.
  process.channel?.unref();
}
