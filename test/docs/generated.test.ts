// The generated pages say what the code says now.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/dev/project-root.ts';
import { generatedPages } from '../../tools/generate-docs.ts';

describe('generated pages', () => {
  for (const [file, text] of Object.entries(generatedPages())) {
    it(`${file} is up to date: npm run docs makes it anew`, () => {
      assert.equal(readFileSync(join(findProjectRoot(), file), 'utf8'), text);
    });
  }
});
