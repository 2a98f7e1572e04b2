// Runs the further attempts of one webhook delivery, until it is delivered or dead-lettered.
import { proxyActivities, proxyLocalActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/delivery.ts';
import type { DeliveryWorkflowInput } from './contract.ts';
import { OWN_TRANSACTION, sendingDelivery } from './policies.ts';

const { loadDelivery } = proxyLocalActivities<DeliveryActivities>(OWN_TRANSACTION);

/**
 * Returns the final state of the delivery, or `not_owed` when no attempt is owed any more. The attempts are tries of
 * one activity, each after the schedule's own delay: the Temporal UI shows the attempt, the last failure and the time
 * of the next one, and `temporal activity reset` sends it now. Starting it again is safe: no attempt is owed for a
 * final delivery.
 */
export async function deliveryWorkflow(
  input: DeliveryWorkflowInput,
): Promise<'delivered' | 'dead_lettered' | 'not_owed'> {
  const { deliveryId, replayCount, endpointId } = input;
  const due = await loadDelivery.executeWithOptions({ summary: 'load the delivery' }, [{ deliveryId, replayCount }]);
  if (due === null) return 'not_owed';
  const { sendDelivery } = proxyActivities<DeliveryActivities>(sendingDelivery(due));
  if (due.dueInMs > 0) {
    setCurrentDetails('The first attempt failed. Waiting until the second attempt is due.');
    await sleep(due.dueInMs, { summary: 'next delivery attempt' });
  }
  setCurrentDetails('Retrying until the endpoint accepts the event or the schedule ends. See the pending activity.');
  const summary = `send to endpoint ${endpointId}`;
  return sendDelivery.executeWithOptions({ summary }, [{ deliveryId, replayCount }]);
}
