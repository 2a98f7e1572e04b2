// Reports the end of each payment's run to the worker, for its trace. It creates and delays no command, so histories do not contain it.
import { proxySinks, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import type { TraceSinks } from './contract.ts';

const { traces } = proxySinks<TraceSinks>();

export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      // Not `async`, and the same promise is returned: one more step in between could reorder the commands of a replayed run.
      execute(input, next) {
        const result = next(input);
        const [payment] = input.args as [{ readonly id?: unknown }?];
        const paymentId = payment?.id;
        if (typeof paymentId !== 'string') return result;
        void result.then(
          () => {
            traces.runEnded(paymentId, false);
          },
          () => {
            traces.runEnded(paymentId, true);
          },
        );
        return result;
      },
    },
  ],
});
