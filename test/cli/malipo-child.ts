// Runs `malipo` as a developer does: as a process of its own, with a configuration folder of its own.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { builtFile } from '../support/build.ts';
import { runFolder } from '../support/engines.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { PASSWORD, type TestPerson } from '../support/people.ts';

const root = findProjectRoot();

export type Outcome = { readonly code: number | null; readonly out: string; readonly err: string };

/** The single JSON document on stdout. */
export function jsonOf({ out, err }: Outcome): unknown {
  assert.match(out, /^[^\n]+\n$/, `stdout is one line; stderr: ${err}`);
  return JSON.parse(out);
}

export type Running = {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Sends Ctrl-C and waits for the end. */
  interrupt(): Promise<Outcome>;
  readonly ended: Promise<Outcome>;
};

export type CliSession = {
  readonly configFile: string;
  /** Runs the command to its end. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Outcome>;
  start(args: readonly string[], environment?: Readonly<Record<string, string>>): Running;
  /** Ends the commands that a failed test left running. */
  clear(): Promise<void>;
};

/** A developer's machine: its commands share one configuration folder. */
export function startSession(settings: Readonly<Record<string, string>> = {}): CliSession {
  const folder = mkdtempSync(join(runFolder(), 'malipo-'));
  const started: Running[] = [];

  const start: CliSession['start'] = (args, environment = {}) => {
    const child = spawn(process.execPath, [builtFile('bin/malipo.mjs'), ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: folder, ...settings, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text));
    const ended = new Promise<Outcome>((resolve) => {
      child.on('close', (code) => {
        resolve({ code, ...printed });
      });
    });
    const running: Running = {
      child,
      out: () => printed.out,
      err: () => printed.err,
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

/** Waits until a running command has printed a match. */
export async function untilPrinted({ out, err, child }: Running, what: RegExp): Promise<RegExpExecArray> {
  return eventually(
    `${what.source} of malipo, which printed ${JSON.stringify([out(), err()])}`,
    () => {
      const found = what.exec(out()) ?? what.exec(err());
      if (!found && child.exitCode !== null) throw new Error(`it ended: ${out()}${err()}`);
      return found;
    },
    60_000,
  );
}

/** The settings of a person who works with this test environment. */
export function settingsOf(testEnv: Pick<TestEnvironment, 'baseUrl'>, person: TestPerson): Record<string, string> {
  return {
    MALIPO_BASE_URL: testEnv.baseUrl,
    MALIPO_EMAIL: person.email,
    MALIPO_PASSWORD: PASSWORD,
    ...(person.totpSecret !== null && { MALIPO_TOTP_SECRET: person.totpSecret }),
  };
}

/** The same person's settings under the names for an approver. */
export function approverSettings(person: TestPerson): Record<string, string> {
  return {
    MALIPO_APPROVER_EMAIL: person.email,
    MALIPO_APPROVER_PASSWORD: PASSWORD,
    ...(person.totpSecret !== null && { MALIPO_APPROVER_TOTP_SECRET: person.totpSecret }),
  };
}
