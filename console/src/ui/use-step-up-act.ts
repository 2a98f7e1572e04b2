// An act before which the person proves who they are, where the API demands it.
import { useStepUp } from '../session/step-up.tsx';
import { useAct, type Act } from './use-act.ts';
import { useRefresh } from './use-refresh.ts';

/** `operationId`: as the API calls it. */
export function useStepUpAct(operationId: string, act: () => Promise<unknown>): Act<[]> {
  const stepUp = useStepUp();
  const refresh = useRefresh();
  return useAct(async () => {
    await stepUp(operationId);
    try {
      await act();
    } finally {
      // Refused or not answered, what is shown may be out of date too: there may be a key that nobody has, to be revoked.
      void refresh();
    }
  });
}
