// The programs of `npm test` and `npm run check`: one that hangs is ended, and all end with the tool that started them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { throwaway, untilGone, type RunningProgram } from '../engines/throwaway.ts';

const LONG_MS = 600_000;

describe('a program that a tool runs', () => {
  const { command, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  function tool(limitMs: number, graceMs: number, ...commands: string[]): RunningProgram {
    const file = join(import.meta.dirname, '..', 'engines', 'programs', 'tool.mjs');
    return command(process.execPath, [file, String(limitMs), String(graceMs), ...commands]);
  }

  /** The next line: the number of a process in the group of the program. */
  async function nextProcess({ nextLine }: RunningProgram): Promise<number> {
    const pid = Number(await nextLine());
    defer(() => startOfProcess(pid) !== undefined && process.kill(pid, 'SIGKILL'));
    return pid;
  }

  it('is asked to end at its limit, and the next one is run', async () => {
    const running = tool(1000, LONG_MS, `trap 'echo asked; exit 3' TERM; while :; do sleep 0.05; done`, 'exit 4');
    for (const line of ['asked', 'ended: 3', 'ended: 4']) assert.equal(await running.nextLine(), line);
  });

  it('is killed with all of its group when it goes on regardless', async () => {
    const running = tool(1000, 300, `trap '' TERM; sleep 60 & echo $!; while :; do sleep 0.05; done`);
    const pid = await nextProcess(running);
    assert.match(await running.nextLine(), /^process group \d+ is killed: it has not ended 0\.3 s after SIGTERM$/);
    assert.equal(await running.nextLine(), 'ended: SIGKILL');
    await untilGone(pid);
  });

  it('leaves nothing in its group when it ends by itself', async () => {
    const running = tool(LONG_MS, LONG_MS, 'sleep 60 >&- 2>&- & echo $!');
    const pid = await nextProcess(running);
    assert.equal(await running.nextLine(), 'ended: 0');
    assert.equal(startOfProcess(pid), undefined);
  });

  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`ends with the tool by ${signal}, after the time that it needs, and no other is begun`, async () => {
      const slow = `trap 'sleep 0.3; echo stopped; exit 0' TERM; echo $$; while :; do sleep 0.05; done`;
      const running = tool(LONG_MS, LONG_MS, slow, 'echo begun');
      const pid = await nextProcess(running);
      const exited = once(running.process, 'exit');
      running.process.kill(signal);
      running.process.kill(signal);
      assert.equal(await running.nextLine(), `ended by ${signal}`);
      assert.equal(await running.nextLine(), 'stopped');
      await assert.rejects(running.nextLine(), /ended without a further line/);
      assert.deepEqual(await exited, [exitCode, null]);
      assert.equal(startOfProcess(pid), undefined);
    });
  }

  it('is killed with the tool when it goes on regardless', async () => {
    const running = tool(LONG_MS, 300, `trap '' TERM; echo $$; while :; do sleep 0.05; done`, 'echo begun');
    const pid = await nextProcess(running);
    const exited = once(running.process, 'exit');
    running.process.kill('SIGTERM');
    assert.deepEqual(await exited, [143, null]);
    await untilGone(pid);
  });

  it('is distinguished from one that cannot be run', async () => {
    const file = join(import.meta.dirname, '..', '..', 'tools', 'programs.mjs');
    const script = `import { runProgram } from '${file}';
      const { error } = await runProgram('/no/such/program', [], { limitMs: 1000 });
      console.log(error.code);`;
    assert.equal(await command(process.execPath, ['--input-type=module', '-e', script]).nextLine(), 'ENOENT');
  });
});
