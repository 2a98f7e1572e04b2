// Runs an act that a person starts by a press: one at a time, with its error kept to be shown.
import { useCallback, useRef, useState, type SyntheticEvent } from 'react';
import { ApiError } from '../api/api-error.ts';
import { useStepUp } from '../session/step-up.tsx';
import { useQueryClient } from '@tanstack/react-query';

export type Act<Args extends readonly unknown[]> = {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Of the error: what is wrong with each field of the form, by the name of the field. */
  readonly byParam: Readonly<Record<string, string>>;
  /** Starts the act, unless one is under way. Never rejects: the error is in `error`. */
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

/** Carries out the act in place of the browser's own sending of a form. */
export function submitting(act: Act<[]>): (event: SyntheticEvent) => void {
  return (event) => {
    event.preventDefault();
    act.run();
  };
}

/** An act before which the person proves who they are, where the API demands it. `operationId`: as the API calls it. */
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

/** After an act, everything that is shown is asked for again, the counts of what waits too. Nothing is shown before it is so. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries();
}
