// What pending deliveries need beside their first attempts: those to endpoints that fail go to workflows, those to endpoints
// that are disabled wait, and replays of many are brought forward.
import type { Database } from '../db/database.ts';
import { continueReplay } from '../operations/webhooks/continue-replay.ts';
import { handOverDeliveries } from '../operations/webhooks/hand-over-deliveries.ts';
import { withholdDeliveries } from '../operations/webhooks/withhold-deliveries.ts';

export type DeliveryMaintenance = {
  /** Once per tick. */
  run(): Promise<void>;
};

export type DeliveryMaintenanceOptions = {
  readonly db: Database;
  readonly onHandedOver: () => void;
  readonly onReplayed: () => void;
};

// Each becomes a workflow, which costs more than a hundred times what a delivery does that is accepted at once. So a long
// line to a dead endpoint is worked off slowly, and what is left of it when the endpoint is well again goes the short way.
const HANDED_OVER_PER_TICK = 10;
const AT_ONCE = 500;
// The rest of a long job waits for the next tick, so that a stop does not wait for the job.
const MOST_BATCHES = 20;

export function createDeliveryMaintenance({
  db,
  onHandedOver,
  onReplayed,
}: DeliveryMaintenanceOptions): DeliveryMaintenance {
  return {
    async run() {
      if ((await handOverDeliveries(db, HANDED_OVER_PER_TICK)) > 0) onHandedOver();
      for (let batch = 0; batch < MOST_BATCHES; batch++) {
        if ((await withholdDeliveries(db, AT_ONCE, new Date())) < AT_ONCE) break;
      }
      for (let batch = 0; batch < MOST_BATCHES; batch++) {
        const replayed = await continueReplay(db, AT_ONCE, new Date());
        if (replayed === null) break;
        if (replayed > 0) onReplayed();
      }
    },
  };
}
