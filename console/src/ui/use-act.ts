// Runs an act that a person starts by a press: one at a time, with its error kept to be shown.
import { useCallback, useRef, useState, type SyntheticEvent } from 'react';
import { ApiError } from '../api/api-error.ts';

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
