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

type Person = { readonly secret: string; lastStep: number };

export type StageStaff = {
  /** Runs a command that only reads; resolves with what it prints. */
  read(...args: readonly string[]): Promise<string>;
  /** Runs a command of one of the staff, who logs in; resolves with what it prints. */
  act(...args: readonly string[]): Promise<string>;
  /** The same by the other one of the two. */
  actAsOther(...args: readonly string[]): Promise<string>;
};

export function createStageStaff(environment: Readonly<Record<string, string>>): StageStaff {
  let people: Promise<readonly Person[]> | null = null;
  const begin = async (): Promise<readonly Person[]> => {
    let lastStep = 0;
    const secrets: string[] = [];
    const names = NAMES.flatMap((name) => ['--name', name]);
    await run(environment, ['begin', ...names], `${PASSWORD}\n`, (shown) => {
      secrets.push(shown);
      lastStep = Math.max(lastStep, totpStepAt(new Date()));
      return `${totpCode(shown, totpStepAt(new Date()))}\n${PASSWORD}\n`;
    });
    return secrets.map((secret) => ({ secret, lastStep }));
  };
  const nextCode = async (of: Person): Promise<string> => {
    of.lastStep = Math.max(of.lastStep + 1, totpStepAt(new Date()));
    // The service accepts the code of the next step as well.
    await sleep(Math.max(0, (of.lastStep - 1) * STEP_MS - Date.now()));
    return totpCode(of.secret, of.lastStep);
  };
  const actAs = async (index: 0 | 1, args: readonly string[]): Promise<string> => {
    people ??= begin();
    const person = (await people)[index];
    if (person === undefined) throw new Error('the staff began without a secret');
    return run(environment, [...args, '--as', NAMES[index]], `${PASSWORD}\n${await nextCode(person)}\n`);
  };
  return {
    read: (...args) => run(environment, args, ''),
    act: (...args) => actAs(0, args),
    actAsOther: (...args) => actAs(1, args),
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
