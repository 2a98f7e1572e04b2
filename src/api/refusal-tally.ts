// Counts the refused requests of people for the metrics, each one: the audit log has only so many of a kind an hour by themselves.
export type RefusalTally = {
  add(): void;
  /** Since the process began. */
  total(): number;
};

export function createRefusalTally(): RefusalTally {
  let total = 0;
  return {
    add() {
      total += 1;
    },
    total: () => total,
  };
}
