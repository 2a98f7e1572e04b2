// Counts every refused request of a person for the metrics. The audit log has only so many of each kind an hour.
export type RefusalTally = {
  add(): void;
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
