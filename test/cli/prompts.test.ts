// Tests `malipo login` at a terminal: it asks for what the environment lacks and hides the password.
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { API_ONLY } from '../api/responses.ts';
import { hasTerminals, runAtTerminal, type Dialogue } from '../support/at-terminal.ts';
import { builtFile } from '../support/build.ts';
import { runFolder } from '../support/engines.ts';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { addPerson, codeOf, PASSWORD } from '../support/people.ts';

describe('malipo login at a terminal', () => {
  let testEnv: TestEnvironment;
  before(async function () {
    if (!hasTerminals()) this.skip();
    testEnv = await startTestEnvironment(API_ONLY);
  });
  // Undefined when there is no python3 to create a terminal with.
  after(() => (testEnv as TestEnvironment | undefined)?.stop());

  const logInAtTerminal = (answers: Dialogue['answers'], environment: Record<string, string>) =>
    runAtTerminal({
      command: [process.execPath, builtFile('bin/malipo.mjs'), 'login', '--base-url', testEnv.baseUrl],
      env: {
        PATH: process.env['PATH'],
        XDG_CONFIG_HOME: mkdtempSync(join(runFolder(), 'malipo-')),
        ...environment,
      },
      answers,
    });

  it('asks for address, password and code, and does not show the password', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const answers = [
      ['e-mail address', person.email.toUpperCase()],
      ['password', PASSWORD],
      ['one-time code', codeOf(person.totpSecret)],
    ] as const;
    const { shown, code } = await logInAtTerminal(answers, {});
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
    const { shown, code } = await logInAtTerminal(answers, { MALIPO_EMAIL: person.email });
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
    const { shown, code } = await logInAtTerminal(answers, { MALIPO_EMAIL: person.email });
    assert.equal(code, 0, shown);
    assert.ok(!shown.includes('e-mail address'), shown);
  });
});
