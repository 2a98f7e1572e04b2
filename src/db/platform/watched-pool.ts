// A connection pool that measures how long each caller waited for a connection.
import { Pool, type PoolClient, type PoolConfig } from 'pg';

/** `isFailure`: no connection was available within the timeout, or the server refused one. */
export type PoolWatch = (wait: { readonly seconds: number; readonly isFailure: boolean }) => void;

type Connected = (error: Error | undefined, client: PoolClient | undefined, done: (release?: unknown) => void) => void;

export class WatchedPool extends Pool {
  readonly #watch: PoolWatch;

  constructor(config: PoolConfig, watch: PoolWatch) {
    super(config);
    this.#watch = watch;
  }

  // The pool's own `query` also takes its connection here, with a callback.
  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | undefined {
    const beganMs = performance.now();
    const report = (isFailure: boolean) => {
      this.#watch({ seconds: (performance.now() - beganMs) / 1000, isFailure });
    };
    if (callback) {
      super.connect((error, client, done) => {
        report(error !== undefined);
        callback(error, client, done);
      });
      return undefined;
    }
    return super.connect().then(
      (client) => {
        report(false);
        return client;
      },
      (error: unknown) => {
        report(true);
        throw error;
      },
    );
  }
}
