// Runs `malipo` as a developer does: as a process of its own, with a folder of its own to remember things in.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/dev/project-root.ts';
import { runFolder } from '../support/engines.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { PASSWORD, type TestPerson } from '../support/people.ts';

const root = findProjectRoot();

export type Outcome = { readonly code: number | null; readonly out: string; readonly err: string };

/** The one JSON document on stdout. */
export function jsonOf({ out, err }: Outcome): unknown {
  assert.match(out, /^[^\n]+\n$/, `stdout is one line; stderr: ${err}`);
  return JSON.parse(out);
}

export type Running = {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Ctrl-C, and how it ended then. */
  interrupt(): Promise<Outcome>;
  readonly ended: Promise<Outcome>;
};

export type CliSession = {
  readonly configFile: string;
  /** To its end. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Outcome>;
  start(args: readonly string[], environment?: Readonly<Record<string, string>>): Running;
  /** Ends what a test that failed left running. */
  clear(): Promise<void>;
};

/** A developer's machine: what one command remembers the next one knows. */
export function startSession(settings: Readonly<Record<string, string>> = {}): CliSession {
  const folder = mkdtempSync(join(runFolder(), 'malipo-'));
  const started: Running[] = [];

  const start: CliSession['start'] = (args, environment = {}) => {
    const child = spawn(process.execPath, ['--import', 'tsx/esm', join(root, 'src/processes/malipo.ts'), ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: folder, ...settings, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
    const ended = new Promise<Outcome>((resolve) => {
      child.on('close', (code) => {
        resolve({ code, ...said });
      });
    });
    const running: Running = {
      child,
      out: () => said.out,
      err: () => said.err,
      interrupt() {
        child.kill('SIGINT');
        return ended;
      },
      ended,
    };
    started.push(running);
    return running;
  };
  return {
    configFile: join(folder, 'malipo', 'config.json'),
    run: (args, environment) => start(args, environment).ended,
    start,
    async clear() {
      for (const { child } of started) child.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
    },
  };
}

/** Waits until a command that runs on has said it. */
export async function untilSaid({ out, err, child }: Running, what: RegExp): Promise<RegExpExecArray> {
  return eventually(
    `${what.source} of malipo, which said ${JSON.stringify([out(), err()])}`,
    () => {
      const found = what.exec(out()) ?? what.exec(err());
      if (!found && child.exitCode !== null) throw new Error(`it ended: ${out()}${err()}`);
      return found;
    },
    60_000,
  );
}

/** The environment of somebody who works with this house. */
export function settingsOf(testEnv: Pick<TestEnvironment, 'baseUrl'>, person: TestPerson): Record<string, string> {
  return {
    MALIPO_BASE_URL: testEnv.baseUrl,
    MALIPO_EMAIL: person.email,
    MALIPO_PASSWORD: PASSWORD,
    ...(person.totpSecret !== null && { MALIPO_TOTP_SECRET: person.totpSecret }),
  };
}

/** The same person under the names of an approver. */
export function approverSettings(person: TestPerson): Record<string, string> {
  return {
    MALIPO_APPROVER_EMAIL: person.email,
    MALIPO_APPROVER_PASSWORD: PASSWORD,
    ...(person.totpSecret !== null && { MALIPO_APPROVER_TOTP_SECRET: person.totpSecret }),
  };
}
