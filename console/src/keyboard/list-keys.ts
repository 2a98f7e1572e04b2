// Moving through the rows of whatever lists a page shows, and choosing them.
import { useShortcuts } from './shortcuts.ts';

const ROWS = '#main tr[data-row]';

/** `j` and `k` move, Enter opens as it does with any link, and `x` chooses a row that can be chosen. */
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

// The focus itself moves, so that a screen reader says where it is, Tab goes on from there and Enter opens.
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
