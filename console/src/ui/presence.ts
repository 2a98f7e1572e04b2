// Whether a person is present: an untouched page requests nothing, so that a session ends with its person's presence.
import { useSyncExternalStore } from 'react';

const PRESENT_FOR_MS = 2 * 60_000;
const SIGNS = ['pointerdown', 'pointermove', 'keydown', 'scroll', 'focus'] as const;

let isPresent = true;
/** Since the last request that reported a present person. */
let isTouched = true;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function change(value: boolean): void {
  if (value === isPresent) return;
  isPresent = value;
  for (const listener of listeners) listener();
}

function seen(): void {
  isTouched = true;
  change(true);
  clearTimeout(timer);
  timer = setTimeout(() => change(false), PRESENT_FOR_MS);
}

for (const sign of SIGNS) window.addEventListener(sign, seen, { passive: true });
seen();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** False once nobody has touched the page for two minutes. */
export function usePresence(): boolean {
  return useSyncExternalStore(subscribe, () => isPresent);
}

/**
 * Whether somebody has touched the page since the last call. Requests of an untouched page do not count as use of the
 * session.
 */
export function takeTouch(): boolean {
  const wasTouched = isTouched;
  isTouched = false;
  return wasTouched;
}
