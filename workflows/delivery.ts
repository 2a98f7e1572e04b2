// The further attempts of one webhook delivery, until it is delivered or dead-lettered.
import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/delivery.ts';
import type { DeliveryWorkflowInput } from './contract.ts';
import { sendingDelivery } from './policies.ts';

/**
 * Ends with how the delivery ended. The attempts are tries of one activity, each after the schedule's own delay: the
 * Temporal UI shows the attempt, the last failure and the time of the next, and `temporal activity reset` sends it now.
 */
export async function deliveryWorkflow(
  input: DeliveryWorkflowInput,
): Promise<'delivered' | 'dead_lettered' | 'not_owed'> {
  const { sendDelivery } = proxyActivities<DeliveryActivities>(sendingDelivery(input));
  if (input.firstDelayMs > 0) {
    setCurrentDetails('The first attempt failed; waiting for the time of the second.');
    await sleep(input.firstDelayMs, { summary: 'until the next attempt' });
  }
  setCurrentDetails('Sending until the endpoint accepts or the schedule ends: see the pending activity.');
  return sendDelivery.executeWithOptions({ summary: `to endpoint ${input.endpointId}` }, [
    { deliveryId: input.deliveryId, replayCount: input.replayCount ?? 0 },
  ]);
}
