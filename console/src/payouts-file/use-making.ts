// Creates the payouts of rows while the page is open, and keeps the outcome of each.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { CheckedRow } from './check-rows.ts';
import { makeRows, type Outcome } from './make-rows.ts';

export type Made = {
  readonly outcomes: ReadonlyMap<number, Outcome>;
  readonly isOver: boolean;
  readonly pausedUntilMs: number | null;
  readonly error: unknown;
  readonly stop: () => void;
};

export function useMaking(rows: readonly CheckedRow[]): Made {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<number, Outcome>>(new Map());
  const [pausedUntilMs, setPausedUntilMs] = useState<number | null>(null);
  const [result, setResult] = useState<{ readonly error: unknown } | null>(null);
  const client = useQueryClient();
  const stopper = useRef<AbortController | null>(null);
  const isOver = result !== null;
  useEffect(() => {
    const controller = new AbortController();
    stopper.current = controller;
    const over = (error: unknown) => {
      if (stopper.current !== controller) return;
      setResult({ error });
      setPausedUntilMs(null);
      // After any refusal, the session may have ended, and the balance has changed.
      void client.invalidateQueries();
    };
    makeRows(rows, {
      signal: controller.signal,
      onPause: setPausedUntilMs,
      onOutcome: ({ number }, outcome) => setOutcomes((before) => new Map(before).set(number, outcome)),
    }).then(over, over);
    return () => controller.abort();
  }, [rows, client]);
  useEffect(() => {
    if (isOver) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isOver]);
  return {
    outcomes,
    isOver,
    pausedUntilMs,
    error: result?.error,
    stop: () => stopper.current?.abort(),
  };
}
