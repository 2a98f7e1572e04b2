// The child's side of a supervised process: reports readiness, and exits when its parent is gone.

/** The message that the parent waits for. */
export const READY_MESSAGE = 'ready';

const SHUTDOWN_LIMIT_MS = 10_000;

/** Reports to the parent that this process is ready. Has no effect without a supervising parent. */
export function reportReady(): void {
  // The parent may have just ended, which `exitWithParent` handles; without a callback the error would be thrown.
  if (process.connected) process.send?.(READY_MESSAGE, () => undefined);
}

/**
 * Ends this process when its parent ends, even by SIGKILL, because the channel between them then closes. `shutdown` has
 * ten seconds to finish work in progress. Has no effect without a supervising parent.
 */
export function exitWithParent(shutdown: () => Promise<void> = () => Promise.resolve()): void {
  if (process.send === undefined) return;
  const exit = (): void => {
    setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS).unref();
    shutdown().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  if (process.connected) process.once('disconnect', exit);
  else exit();
  // A listener on the channel must not keep a process alive that has finished its work.
  process.channel?.unref();
}
