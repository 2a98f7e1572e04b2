// The part of a link after the `#`: browsers send it to no server, so it may carry a token.

/** Reads the value and removes it from the address, so that no history or screenshot keeps it. Empty if missing. */
export function fragmentValue(name: string): string {
  const value = new URLSearchParams(window.location.hash.slice(1)).get(name) ?? '';
  if (value !== '') window.history.replaceState(null, '', window.location.pathname);
  return value;
}
