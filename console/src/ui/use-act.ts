// Runs an act that a person starts: one at a time, with its error kept for display.
import { useCallback, useRef, useState, type SyntheticEvent } from 'react';
import { ApiError } from '../api/api-error.ts';
import { useStepUp } from '../session/step-up.tsx';
import { useQueryClient } from '@tanstack/react-query';

export type Act<Args extends readonly unknown[]> = {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** From the error: the fault of each field of the form, by the name of the field. */
  readonly byParam: Readonly<Record<string, string>>;
  /** Starts the act, unless one is in progress. Never rejects: the error is in `error`. */
  readonly run: (...args: Args) => void;
  readonly forget: () => void;
};

export function useAct<Args extends readonly unknown[]>(act: (...args: Args) => Promise<unknown>): Act<Args> {
  // A second press can come before the first has rendered anything.
  const isUnderWay = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  async function carryOut(args: Args): Promise<void> {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    setError(null);
    try {
      await act(...args);
    } catch (failure) {
      setError(failure);
    } finally {
      isUnderWay.current = false;
      setBusy(false);
    }
  }
  const forget = useCallback(() => setError(null), []);
  const byParam = error instanceof ApiError ? error.byParam : {};
  return { isBusy, error, byParam, run: (...args) => void carryOut(args), forget };
}

/** Carries out the act instead of the browser's own submission of a form. */
export function submitting(act: Act<[]>): (event: SyntheticEvent) => void {
  return (event) => {
    event.preventDefault();
    act.run();
  };
}

/** An act before which the person verifies their identity, if the API requires it. `operationId`: as in the API. */
export function useStepUpAct(operationId: string, act: () => Promise<unknown>): Act<[]> {
  const stepUp = useStepUp();
  const refresh = useRefresh();
  return useAct(async () => {
    await stepUp(operationId);
    try {
      await act();
    } finally {
      // After a refusal or a lost answer the page may be out of date: there may be a key that nobody has, to revoke.
      void refresh();
    }
  });
}

/** After an act, all shown data are requested again, also the counts of waiting work. Nothing is shown before. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries();
}
