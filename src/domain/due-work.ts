// The due work of a dispatcher, by its loops.

/** For each loop, whether it would find something now or within moments. */
export type DueWork = {
  /** A delivery waits for its first attempt. */
  readonly attempts: boolean;
  /** There is unstarted work, due or not. */
  readonly starts: boolean;
  /** Some started work is late. */
  readonly checks: boolean;
  /** A delivery must be escalated or withheld, or a replay is running. */
  readonly maintenance: boolean;
  /** An audit entry has no link. Chains that must be signed are not checked. */
  readonly auditChains: boolean;
  /** A state change is not folded. */
  readonly totals: boolean;
};
