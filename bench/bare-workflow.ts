// The bare workflow of one collection: an operator call, two local activities and one signal, all without work of their
// own.
import { condition, defineSignal, proxyActivities, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { BareActivities } from './bare-process.ts';

const { callOperator } = proxyActivities<BareActivities>({ startToCloseTimeout: '30s' });
const { recordNothing } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '10s' });

export async function bareWorkflow(id: string): Promise<void> {
  let isCalledBack = false;
  setHandler(defineSignal('calledBack'), () => {
    isCalledBack = true;
  });
  await callOperator(id);
  await recordNothing();
  await condition(() => isCalledBack, '5 minutes');
  await recordNothing();
}
