// Moves pending deliveries that get no first attempt: escalates those of failing endpoints to workflows, withholds those of
// disabled endpoints, and continues bulk replays.
import type { Database } from '../db/platform/database.ts';
import { escalateDeliveries, withholdDeliveries } from '../db/webhooks/delivery.ts';
import { continueReplay } from '../operations/webhooks/replay-deliveries.ts';
import type { Pass } from './dispatcher.ts';

// Each becomes a workflow, at more than a hundred times the cost of a delivery that is accepted at once. So the backlog
// of a dead endpoint shrinks slowly, and once the endpoint works again the dispatcher sends the rest.
const MAX_ESCALATIONS_PER_TICK = 10;
const BATCH_SIZE = 500;
// The rest of a long job waits for the next tick, so that a stop need not wait for the whole job.
const MAX_BATCHES_PER_TICK = 20;

export function createDeliveryMaintenance({
  db,
  onEscalated,
}: {
  readonly db: Database;
  readonly onEscalated: () => void;
}): Pass {
  return {
    async run() {
      if ((await escalateDeliveries(db, MAX_ESCALATIONS_PER_TICK)) > 0) onEscalated();
      for (let batch = 0; batch < MAX_BATCHES_PER_TICK; batch++) {
        if ((await withholdDeliveries(db, BATCH_SIZE, new Date())) < BATCH_SIZE) break;
      }
      for (let batch = 0; batch < MAX_BATCHES_PER_TICK; batch++) {
        if ((await continueReplay(db, BATCH_SIZE, new Date())) === null) break;
      }
    },
  };
}
