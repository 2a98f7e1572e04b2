// Files that hold secrets: written whole or not at all, and readable to this user only.
import { randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';

/** Replaces the file in one step: no reader ever gets half of it. */
export function writePrivateFile(path: string, text: string): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}
