// What a dispatcher has to do, by its loops.

/** By loop: whether it would find something now, or could within moments. */
export type DueWork = {
  /** A delivery waits for its first attempt. */
  readonly attempts: boolean;
  /** Work is unstarted, due or not. */
  readonly starts: boolean;
  /** Started work is late. */
  readonly checks: boolean;
  /** A delivery is to be escalated or withheld, or a replay runs. */
  readonly maintenance: boolean;
  /** An audit entry has no link. That a chain is to be signed is not looked for. */
  readonly auditChains: boolean;
  /** A change is not folded. */
  readonly totals: boolean;
};
