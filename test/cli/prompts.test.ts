// Tests `malipo login` at a terminal: it asks for what the environment lacks and hides the password.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { API_ONLY } from '../api/responses.ts';
import { builtFile } from '../support/build.ts';
import { runFolder } from '../support/engines.ts';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { addPerson, codeOf, PASSWORD } from '../support/people.ts';

// Gives the command a terminal of its own, and answers each question when it appears.
const DRIVER = `
import json, os, pty, re, sys
command, answers = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    if answers and re.search(answers[0][0].encode() + b".*: ", shown):
        os.write(terminal, answers.pop(0)[1].encode() + b"\\r")
print(json.dumps({"shown": shown.decode(), "code": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}))
`;

describe('malipo login at a terminal', () => {
  let testEnv: TestEnvironment;
  before(async function () {
    if (spawnSync('python3', ['--version']).error) this.skip();
    testEnv = await startTestEnvironment(API_ONLY);
  });
  // Undefined when there is no python3 to create a terminal with.
  after(() => (testEnv as TestEnvironment | undefined)?.stop());

  /** Runs the command at a terminal. Each answer is for the question that contains its text, in this order. */
  function runAtTerminal(answers: readonly (readonly [string, string])[], environment: Record<string, string>) {
    const command = [process.execPath, builtFile('bin/malipo.mjs'), 'login', '--base-url', testEnv.baseUrl];
    const env = {
      PATH: process.env['PATH'],
      XDG_CONFIG_HOME: mkdtempSync(join(runFolder(), 'malipo-')),
      ...environment,
    };
    // Asynchronous, because the service that it logs in to runs in this process.
    const child = spawn('python3', ['-c', DRIVER, JSON.stringify([command, answers])], { env, timeout: 50_000 });
    let out = '';
    child.stdout.on('data', (text) => (out += String(text)));
    return new Promise<{ readonly shown: string; readonly code: number }>((resolve, reject) => {
      child.on('close', () => {
        if (out === '') reject(new Error('the terminal was silent'));
        else resolve(JSON.parse(out) as { shown: string; code: number });
      });
    });
  }

  it('asks for address, password and code, and does not show the password', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const answers = [
      ['e-mail address', person.email.toUpperCase()],
      ['password', PASSWORD],
      ['one-time code', codeOf(person.totpSecret)],
    ] as const;
    const { shown, code } = await runAtTerminal(answers, {});
    assert.equal(code, 0, shown);
    assert.match(shown, new RegExp(`<${person.email}> at`));
    assert.ok(!shown.includes(PASSWORD), shown);
  });

  it('asks a person of several merchants which one, until the answer is one, and needs no second code for it', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const other = await testEnv.addMerchant();
    await addPerson(testEnv, other.id, ['developer'], { email: person.email });
    const answers = [
      ['password', PASSWORD],
      ['one-time code', codeOf(person.totpSecret)],
      ['merchant, 1 to 2', '3'],
      ['(?s)1 to 2: .*3.*merchant, 1 to 2', '2'],
    ] as const;
    const { shown, code } = await runAtTerminal(answers, { MALIPO_EMAIL: person.email });
    assert.equal(code, 0, shown);
    assert.match(shown, new RegExp(`1 {2}Test merchant ${testEnv.merchant.id}\\r\\n2 {2}Test merchant ${other.id}`));
    assert.match(shown, new RegExp(`for Test merchant ${other.id} .*, as developer`));
  });

  it('does not ask for values in the environment', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const answers = [
      ['password', PASSWORD],
      ['one-time code', ''],
    ] as const;
    const { shown, code } = await runAtTerminal(answers, { MALIPO_EMAIL: person.email });
    assert.equal(code, 0, shown);
    assert.ok(!shown.includes('e-mail address'), shown);
  });
});
