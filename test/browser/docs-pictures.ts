// Pictures of a live page for the documentation, of which each proves that it shows what its page says.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { findProjectRoot } from '../../src/project-root.ts';

const ROOT = findProjectRoot();
/** Pages of the documentation are read on slow lines too, and every clone of the repository has all pictures that ever were. */
const MOST_BYTES = 150_000;

export type Part = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

export type PictureOptions = {
  readonly name: string;
  /** The part of the page that it shows. */
  readonly part: Part;
  /** What must be there to be read, whole and uncovered. */
  readonly shows: readonly Locator[];
  /** What must be nowhere on the page, nor in its frames. */
  readonly hides: readonly string[];
};

/**
 * Fails unless this part of the page shows all of it. The picture is kept in var/screenshots, and in docs/pictures when
 * MALIPO_WRITE_PICTURES is set: it differs by ids and times from one run to the next.
 */
export async function pictureForDocs(page: Page, { name, part, shows, hides }: PictureOptions): Promise<void> {
  for (const locator of shows) await locator.waitFor().catch((error: unknown) => keepAndThrow(page, name, error));
  const picture = await page.screenshot({ clip: part, animations: 'disabled' });
  await keep('var/screenshots', name, picture);
  for (const locator of shows)
    assert.ok(await isReadable(locator, part), `${name}: ${String(locator)} is outside of the picture, or covered`);
  const text = (await Promise.all(page.frames().map((frame) => frame.locator('body').innerText()))).join();
  for (const hidden of hides) assert.ok(!text.includes(hidden), `${name} has ${hidden}`);
  assert.ok(picture.length < MOST_BYTES, `${name} has ${picture.length} bytes`);
  if (process.env['MALIPO_WRITE_PICTURES'] !== undefined) await keep('docs/pictures', name, picture);
}

async function keepAndThrow(page: Page, name: string, error: unknown): Promise<never> {
  await keep('var/screenshots', `${name}-without`, await page.screenshot());
  throw error;
}

async function keep(folder: string, name: string, picture: Buffer): Promise<void> {
  await mkdir(join(ROOT, folder), { recursive: true });
  await writeFile(join(ROOT, folder, `${name}.png`), picture);
}

/** What this needs of an element and its document: the project's types know no browser. */
type Shown = {
  getBoundingClientRect(): {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly height: number;
  };
  contains(other: unknown): boolean;
  readonly ownerDocument: { elementFromPoint(x: number, y: number): Shown | null };
};

/** Whether both of its ends are in the part, with nothing over them and nothing that cuts them off. */
async function isReadable(locator: Locator, part: Part): Promise<boolean> {
  const box = await locator.boundingBox();
  if (box === null || !isWithin(box, part)) return false;
  return locator.evaluate((node: unknown) => {
    const element = node as Shown;
    const { left, right, top, height } = element.getBoundingClientRect();
    return [left + 2, right - 2].every((x) => {
      const found = element.ownerDocument.elementFromPoint(x, top + height / 2);
      return found !== null && element.contains(found);
    });
  });
}

function isWithin(box: Part, part: Part): boolean {
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  return box.x >= part.x && box.y >= part.y && right <= part.x + part.width && bottom <= part.y + part.height;
}
