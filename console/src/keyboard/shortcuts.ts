// Single-key shortcuts, anywhere on a page: not while the person types or answers a dialog, and only if they want them.
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';

const KEPT_AS = 'malipo-shortcuts';
const OFF = 'off';
const listeners = new Set<() => void>();

/** People who dictate to their computer, or hit keys by accident, can turn them off. */
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

/** Each key as the keyboard writes it, and its act. */
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

const ROWS = '#main tr[data-row]';

/** `j` and `k` move, Enter opens a link as usual, and `x` chooses a row that can be chosen. */
export function useListKeys(): void {
  useShortcuts({ j: () => move(1), k: () => move(-1), x: choose });
}

function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)];
  const current = currentRow();
  const next = current === null ? 0 : rows.indexOf(current) + by;
  const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
  if (row !== undefined) focus(row);
}

// The focus itself moves, so that a screen reader announces it, Tab continues from there and Enter opens.
function focus(row: HTMLElement): void {
  const link = row.querySelector<HTMLElement>('a.row-link') ?? row.querySelector<HTMLElement>('a[href]');
  if (link === null) row.tabIndex = -1;
  (link ?? row).focus();
}

function choose(): void {
  currentRow()?.querySelector<HTMLInputElement>('input[type=checkbox]:not(:disabled)')?.click();
}

function currentRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>(ROWS) ?? null;
}
