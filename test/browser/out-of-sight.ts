// Finds the text of a page that nobody sees, because it lies outside of what shows it.
import type { Page } from 'playwright-core';

// What is read aloud alone is one pixel wide; a name that ends in three dots in the heading is whole in the menu below it.
const SCRIPT = `(async () => {
  // Where the page is on its way to another place, what counts is that place.
  await Promise.all(document.getAnimations().filter(({ effect }) => effect.getTiming().iterations !== Infinity).map(({ finished }) => finished));
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const within = text.parentElement.closest('main, [role=dialog], [role=listbox]');
    if (!within || text.data.trim() === '' || !text.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
    for (let shown = text.parentElement; shown; shown = shown.parentElement) {
      const style = getComputedStyle(shown);
      const box = shown === document.documentElement ? { left: 0, right: innerWidth } : shown.getBoundingClientRect();
      const clips = shown === document.documentElement || style.overflowX !== 'visible';
      if (box.right - box.left === 1) break;
      if (!clips || !boxes.some(({ left, right }) => left < box.left - 1 || right > box.right + 1)) continue;
      found.push(text.data.slice(0, 60) + ' lies outside of ' + shown.tagName + '.' + shown.className);
      break;
    }
  }
  return found;
})()`;

/** The beginning of each text that lies, wholly or partly, to the left or right of what shows it. */
export function textOutOfSight(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(SCRIPT);
}
