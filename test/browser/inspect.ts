// Looks at a page as a person who cannot see it, or has a small screen, would; and keeps a picture of it outside of git.
import { readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { findProjectRoot } from '../../src/project-root.ts';

const PICTURES = join(findProjectRoot(), 'var', 'screenshots');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** How often a page with a fault is inspected. */
const LOOKS = 5;
export const VIEWS = { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } };
export const SCHEMES = ['light', 'dark'] as const;

export type Inspector = {
  /** What of this page keeps somebody from using it. Its picture gets this name. */
  readonly inspect: (page: Page, name: string) => Promise<string[]>;
  /** Only keeps its picture. */
  readonly picture: (page: Page, name: string) => Promise<void>;
};

/**
 * An inspector for the cases of the surrounding `describe`. The names of its pictures begin with `prefix`; a page beside them shows all
 * that there are. `rules`: of axe, beside those of WCAG 2.2 AA.
 */
export function useInspector(prefix: string, rules: readonly string[] = []): Inspector {
  const options = JSON.stringify({ runOnly: [...STANDARD, ...rules] });

  before(async () => {
    await mkdir(PICTURES, { recursive: true });
  });
  after(async () => {
    const names = (await readdir(PICTURES)).filter((name) => name.endsWith('.png')).sort();
    const figures = names.map((name) => `<figure><img src="${name}" alt=""><figcaption>${name}</figcaption></figure>`);
    await writeFile(join(PICTURES, 'index.html'), `<!doctype html><title>Screens</title>${figures.join('\n')}`);
  });

  async function picture(page: Page, name: string): Promise<void> {
    await page.screenshot({ path: join(PICTURES, `${prefix}-${name}.png`), fullPage: true });
  }

  /** A page that still changes its colours shows old ones beside new ones: it is inspected again. */
  async function lastingViolations(page: Page): Promise<AxeResults['violations']> {
    for (let look = 1; ; look++) {
      const { violations } = await page.evaluate<AxeResults>(`axe.run(${options})`);
      if (violations.length === 0 || look === LOOKS) return violations;
      await page.waitForTimeout(1000);
    }
  }

  return {
    picture,
    async inspect(page, name) {
      await page.evaluate(AXE);
      const violations = await lastingViolations(page);
      await picture(page, name);
      const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
      return [
        ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${name}: ${id}: ${html.slice(0, 200)}`)),
        ...(isWide === true ? [`${name}: scrolls sideways`] : []),
      ];
    },
  };
}
