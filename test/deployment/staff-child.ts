// Runs `npm run staff` as a process of its own.
import { execFile } from 'node:child_process';
import { findProjectRoot } from '../../src/project-root.ts';
import { builtFile } from '../support/build.ts';

type Outcome = { readonly code: number; readonly out: string; readonly err: string };

/** `input`: what the command reads from standard input, which is no terminal. */
export function runStaff(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  input = '',
): Promise<Outcome> {
  return new Promise((resolve) => {
    const command = [builtFile('dist/src/server/entries/staff.js'), ...args];
    const env = { PATH: process.env['PATH'], ...environment };
    const child = execFile(
      process.execPath,
      command,
      { cwd: findProjectRoot(), env, timeout: 50_000 },
      (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err });
      },
    );
    // A command that ends before it reads closes the pipe.
    child.stdin?.on('error', () => undefined).end(input);
  });
}
