// Single keys that do something anywhere on a page: never while somebody writes or answers a question, and only if they want them.
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';

const KEPT_AS = 'malipo-shortcuts';
const OFF = 'off';
const listeners = new Set<() => void>();

/** Whoever speaks to their computer, or whose hands hit keys by chance, can do without. */
export function setShortcutsOn(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEPT_AS);
  else localStorage.setItem(KEPT_AS, OFF);
  for (const listener of listeners) listener();
}

export function useShortcutsOn(): boolean {
  return useSyncExternalStore(subscribe, areOn);
}

function areOn(): boolean {
  return localStorage.getItem(KEPT_AS) !== OFF;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Each key as the keyboard writes it, and what it does. */
export function useShortcuts(acts: Readonly<Record<string, () => void>>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const act = acts[event.key];
    if (act === undefined || !isMeant(event)) return;
    event.preventDefault();
    act();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}

function isMeant({ ctrlKey, metaKey, altKey, isComposing, defaultPrevented, target }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || isComposing || defaultPrevented || !areOn()) return false;
  return !isWriting(target) && document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') === null;
}

const WITHOUT_TEXT = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'file']);

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !WITHOUT_TEXT.has(target.type);
  return target.isContentEditable || target.matches('textarea, select, [role=textbox], [role=listbox] *');
}
