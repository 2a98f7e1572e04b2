// The build, for tests that run a program of ours as a process: what is built starts in half the time of its sources.
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProjectRoot } from '../../src/project-root.ts';

const root = findProjectRoot();
const COMMAND = [process.execPath, ['tools/build.mjs'], { cwd: root }] as const;
let building: Promise<unknown> | null = null;
let isBuilt = false;

/** Resolves when everything is built; `npm test` has built it before. What runs in this process goes on meanwhile. */
export async function build(): Promise<void> {
  await (building ??= promisify(execFile)(...COMMAND));
  isBuilt = true;
}

/** Where the file is, once everything is built. Nothing else in this process goes on meanwhile. */
export function builtFile(path: string): string {
  if (!isBuilt) execFileSync(COMMAND[0], COMMAND[1], { ...COMMAND[2], stdio: ['ignore', 'ignore', 'inherit'] });
  isBuilt = true;
  return join(root, path);
}
