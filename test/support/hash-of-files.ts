// A name for the contents of files: what was made of them earlier is found again as long as none has changed.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';

/** The hash of these files of the project, of those in these folders with their paths, and of `others`. */
export function hashOfFiles(paths: readonly string[], ...others: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(others));
  for (const path of paths.map((each) => join(findProjectRoot(), each))) {
    const inside = statSync(path).isFile() ? [''] : readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
    const files = inside.map((name) => join(path, name)).filter((file) => statSync(file).isFile());
    for (const file of files) hash.update(`${file}\0`).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 12);
}
