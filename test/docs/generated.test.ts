// Checks that the generated pages are up to date.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { generatedPages } from '../../tools/generate-docs.ts';

const PAGES = await generatedPages();

describe('the generated pages', () => {
  for (const [file, text] of Object.entries(PAGES)) {
    it(`include ${file} as npm run docs generates it`, () => {
      assert.equal(readFileSync(join(findProjectRoot(), file), 'utf8'), text);
    });
  }
});
