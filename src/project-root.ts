// Finds the project's own folder, whether this code runs from its TypeScript sources or compiled from dist/.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PROJECT_NAME = 'malipo';

/** The nearest folder at or above `from` whose package.json is the project's. */
export function findProjectRoot(from: string = import.meta.dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (packageNameIn(folder) === PROJECT_NAME) return folder;
    if (folder === dirname(folder)) throw new Error(`no package.json of ${PROJECT_NAME} at or above ${from}`);
  }
}

function packageNameIn(folder: string): unknown {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return typeof parsed === 'object' && parsed !== null && 'name' in parsed ? parsed.name : undefined;
}
