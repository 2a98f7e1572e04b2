// Runs the further attempts of one webhook delivery, until it is delivered or dead-lettered.
import { ApplicationFailureCategory } from '@temporalio/common';
import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow';
import type { DeliveryActivities } from '../activities/delivery.ts';
import { DEAD_LETTERED, type DeliveryWorkflowInput } from './contract.ts';
import { inWords } from './details.ts';
import { OWN_TRANSACTION, sendingDelivery } from './policies.ts';

const { loadDelivery } = proxyLocalActivities<DeliveryActivities>(OWN_TRANSACTION);

/**
 * Returns the final state of the delivery, or `not_owed` if no attempt is owed any more; fails if the delivery is dead-lettered, so that a
 * person finds it among the failed workflows. The attempts are tries of one activity, each after the schedule's own delay: the Temporal UI
 * shows the attempt, the last failure and the time of the next attempt, and `temporal activity reset` makes that attempt now. Starting the
 * workflow again is safe: no attempt is owed for a final delivery.
 */
export async function deliveryWorkflow(input: DeliveryWorkflowInput): Promise<'delivered' | 'not_owed'> {
  const { deliveryId, replayCount, endpointId } = input;
  const due = await loadDelivery.executeWithOptions({ summary: 'load the delivery' }, [{ deliveryId, replayCount }]);
  if (due === null)
    return finish('not_owed', 'No attempt is owed: it was delivered, withheld or dead-lettered before.');
  const { sendDelivery } = proxyActivities<DeliveryActivities>(sendingDelivery(due));
  if (due.dueInMs > 0) {
    setCurrentDetails('The first attempt failed. Waiting until the second attempt is due.');
    await sleep(due.dueInMs, { summary: `next delivery attempt in ${inWords(due.dueInMs)}` });
  }
  setCurrentDetails('Retrying until the endpoint accepts the event or the schedule ends. See the pending activity.');
  const summary = `send to endpoint ${endpointId}`;
  const result = await sendDelivery.executeWithOptions({ summary }, [{ deliveryId, replayCount }]);
  if (result !== 'dead_lettered') return finish(result, 'Nobody has to act.');
  finish(result, 'The merchant can replay it once its endpoint accepts events again.');
  throw ApplicationFailure.create({
    message: `${DEAD_LETTERED} the endpoint accepted no attempt of the schedule, and the merchant can replay it`,
    type: 'DeadLettered',
    nonRetryable: true,
    // The endpoint is at fault, not this service.
    category: ApplicationFailureCategory.BENIGN,
  });
}

function finish<Result extends string>(result: Result, what: string): Result {
  setCurrentDetails(`Final: ${result}. ${what}`);
  return result;
}
