// The service's staff on the stage: two people, who begin with the first act, and one of whom logs in for each.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProjectRoot } from '../src/project-root.ts';
import { totpCode, totpStepAt } from '../src/security/totp.ts';

const ENTRY = 'dist/src/server/entries/staff.js';
const NAMES = ['walker', 'watcher'] as const;
const PASSWORD = 'seven lorries of green bananas';
const STEP_MS = 30_000;

export type StageStaff = {
  /** Runs a command that only reads; resolves with what it prints. */
  read(...args: readonly string[]): Promise<string>;
  /** Runs a command of one of the staff, who logs in; resolves with what it prints. */
  act(...args: readonly string[]): Promise<string>;
};

export function createStageStaff(environment: Readonly<Record<string, string>>): StageStaff {
  let secret: string | null = null;
  let lastStep = 0;
  const begin = async (): Promise<string> => {
    const secrets: string[] = [];
    const names = NAMES.flatMap((name) => ['--name', name]);
    await run(environment, ['begin', ...names], `${PASSWORD}\n`, (shown) => {
      secrets.push(shown);
      lastStep = Math.max(lastStep, totpStepAt(new Date()));
      return `${totpCode(shown, totpStepAt(new Date()))}\n${PASSWORD}\n`;
    });
    const [first] = secrets;
    if (first === undefined) throw new Error('the staff began without a secret');
    return first;
  };
  const nextCode = async (of: string): Promise<string> => {
    lastStep = Math.max(lastStep + 1, totpStepAt(new Date()));
    // The service accepts the code of the next step as well.
    await sleep(Math.max(0, (lastStep - 1) * STEP_MS - Date.now()));
    return totpCode(of, lastStep);
  };
  return {
    read: (...args) => run(environment, args, ''),
    async act(...args) {
      secret ??= await begin();
      return run(environment, [...args, '--as', NAMES[0]], `${PASSWORD}\n${await nextCode(secret)}\n`);
    },
  };
}

/** `answer`: what is entered once a secret is shown. Rejects with what the command says when it fails. */
function run(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  input: string,
  answer: (secret: string) => string = () => '',
): Promise<string> {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [join(findProjectRoot(), ENTRY), ...args], { env });
  let [out, err, answered] = ['', '', 0];
  // A command that ends before it reads closes the pipe.
  child.stdin.on('error', () => undefined).write(input);
  child.stderr.on('data', (text) => (err += String(text)));
  child.stdout.on('data', (text) => {
    out += String(text);
    for (const [, secret = ''] of [...out.matchAll(/^secret +([A-Z2-7]{32})$/gm)].slice(answered)) {
      answered += 1;
      child.stdin.write(answer(secret));
    }
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(out);
      else reject(new Error(`npm run staff -- ${args.join(' ')} ended with ${code}: ${err}`));
    });
  });
}
