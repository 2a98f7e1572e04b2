// The only script of the sandbox's pages: it fetches the page again every two seconds, and inserts the changed parts.

/**
 * Replaces each part that is marked `data-live`. A part with typed text, or with the focus in an input, stays unchanged until the input
 * is empty and left; other focused elements keep the focus. Pages also refresh without scripts: this script avoids the reload.
 */
export const LIVE_SCRIPT = `
const EVERY_MS = 2000;
// What comes is this server's own page, which escapes what it shows.
const policy = window.trustedTypes
  ? window.trustedTypes.createPolicy('live', { createHTML: (html) => html })
  : { createHTML: (html) => html };
const isTypedIn = (part) =>
  [...part.querySelectorAll('input:not([type=hidden])')].some((input) => input.value !== '' || input === document.activeElement);
const shown = new Map();
const status = document.getElementById('live');

async function look() {
  const response = await fetch(location.pathname + location.search, { headers: { accept: 'text/html' } });
  const fresh = new DOMParser().parseFromString(policy.createHTML(await response.text()), 'text/html');
  for (const part of document.querySelectorAll('[data-live]')) {
    const next = fresh.getElementById(part.id);
    if (next === null || next.innerHTML === shown.get(part.id) || isTypedIn(part)) continue;
    const focused = part.contains(document.activeElement) ? document.activeElement.id : '';
    shown.set(part.id, next.innerHTML);
    part.replaceChildren(...next.childNodes);
    if (focused !== '') document.getElementById(focused)?.focus();
  }
}

async function follow() {
  try {
    if (document.visibilityState === 'visible') await look();
    if (status !== null) status.textContent = 'Follows by itself.';
  } catch {
    if (status !== null) status.textContent = 'The sandbox does not answer. This page tries again.';
  }
  setTimeout(follow, EVERY_MS);
}
for (const part of document.querySelectorAll('[data-live]')) shown.set(part.id, part.innerHTML);
setTimeout(follow, EVERY_MS);
`;
