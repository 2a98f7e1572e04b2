// Runs `npm run staff` as a process of its own.
import { execFile } from 'node:child_process';
import { findProjectRoot } from '../../src/project-root.ts';
import { builtFile } from '../support/build.ts';

type Outcome = { readonly code: number; readonly out: string; readonly err: string };

export function runStaff(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Outcome> {
  return new Promise((resolve) => {
    const command = [builtFile('dist/src/server/entries/staff.js'), ...args];
    const env = { PATH: process.env['PATH'], ...environment };
    execFile(process.execPath, command, { cwd: findProjectRoot(), env, timeout: 50_000 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}
