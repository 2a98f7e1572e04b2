// One run per data folder, also after a killed run.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifyProcess, startOfProcess } from '../../src/engines/process/process-identity.ts';
import { openRunRecord, type RunRecord } from '../../src/dev/run-record.ts';
import { throwaway, until, untilGone } from '../engines/throwaway.ts';

type Content = { children: { name: string; pid: number; startedAt: string; stopSignal: string }[] };

describe('the run record', () => {
  const { folder, program, command, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  const reported: string[] = [];
  beforeEach(() => (reported.length = 0));
  const open = (dataDir: string): Promise<RunRecord> =>
    openRunRecord({ dataDir, report: (line) => reported.push(line) });
  const contentOf = (dataDir: string): Content =>
    JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as Content;

  /** A run on the folder; its sleeping child is ended in any case. */
  async function otherRun(dataDir: string): Promise<{ pid: number; sleeper: number; kill: () => Promise<void> }> {
    const run = program('hold-run.ts', [dataDir]);
    const sleeper = Number(await run.nextLine());
    defer(() => startOfProcess(sleeper) !== undefined && process.kill(sleeper, 'SIGKILL'));
    return { pid: run.pid, sleeper, kill: run.kill };
  }

  it('refuses a second run while the first one runs, and names its process', async () => {
    const dataDir = folder();
    const first = await otherRun(dataDir);
    await assert.rejects(open(dataDir), new RegExp(`already runs on ${dataDir} as process ${first.pid}\\.`));
    assert.ok(startOfProcess(first.sleeper), 'the first run keeps its child');
  });

  it('ends the processes of a killed run and takes its place', async () => {
    const dataDir = folder();
    const first = await otherRun(dataDir);
    await first.kill();
    assert.ok(startOfProcess(first.sleeper), 'the child outlives its parent');
    const record = await open(dataDir);
    await untilGone(first.sleeper);
    assert.deepEqual(reported, [
      `ended the sleeper (process ${first.sleeper}), left behind by the run of process ${first.pid}`,
    ]);
    assert.deepEqual(contentOf(dataDir).children, []);
    record.close();
  });

  it('does not end a process that only has the number of a leftover process', async () => {
    const dataDir = folder();
    const first = await otherRun(dataDir);
    await first.kill();
    const bystander = command('sleep', ['60']);
    const content = contentOf(dataDir);
    content.children.push({ name: 'the bystander', pid: bystander.pid, startedAt: 'long ago', stopSignal: 'SIGTERM' });
    writeFileSync(join(dataDir, 'run.json'), JSON.stringify(content));
    const record = await open(dataDir);
    assert.ok(startOfProcess(bystander.pid), 'the bystander runs on');
    assert.equal(startOfProcess(first.sleeper), undefined);
    record.close();
  });

  it('lets exactly one of several starts take the place of a killed run', async () => {
    const dataDir = folder();
    const first = await otherRun(dataDir);
    await first.kill();
    const starts = [1, 2, 3].map(() => program('hold-run.ts', [dataDir]));
    const answers = await Promise.all(starts.map((start) => start.nextLine()));
    const winners = answers.filter((answer) => !answer.startsWith('refused: '));
    for (const sleeper of winners) defer(() => process.kill(Number(sleeper), 'SIGKILL'));
    assert.equal(winners.length, 1, answers.join('\n'));
  });

  it('is not readable for other accounts, and is removed at a clean end', async () => {
    const dataDir = folder();
    const record = await open(dataDir);
    const sleeper = command('sleep', ['60']);
    record.add({ name: 'the sleeper', pid: sleeper.pid, stopSignal: 'SIGINT' });
    const file = join(dataDir, 'run.json');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(contentOf(dataDir).children, [
      { name: 'the sleeper', ...identifyProcess(sleeper.pid), stopSignal: 'SIGINT' },
    ]);
    record.remove(sleeper.pid);
    assert.deepEqual(contentOf(dataDir).children, []);
    record.close();
    assert.equal(existsSync(file), false);
  });

  it('ends its children on request, the last one first', async () => {
    const record = await open(folder());
    // Each child records its own end: this process may see the two exits in another order.
    const notes = join(folder(), 'notes');
    const noting = (name: string) =>
      `const note = (text) => require('node:fs').appendFileSync(${JSON.stringify(notes)}, text + '\\n');
       for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { note('${name} ' + signal); process.exit(); });
       setInterval(() => {}, 1000); note('${name} ready');`;
    const readNotes = () => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []);
    const [database, server] = ['database', 'server'].map((name) => command(process.execPath, ['-e', noting(name)]));
    await until('both children are ready', () => readNotes().length === 2);
    record.add({ name: 'the database', pid: database!.pid, stopSignal: 'SIGINT' });
    record.add({ name: 'the server', pid: server!.pid });
    await record.endChildren();
    assert.deepEqual(readNotes().slice(2), ['server SIGTERM', 'database SIGINT']);
    const late = command('sleep', ['60']);
    record.add({ name: 'what the start still began', pid: late.pid });
    await untilGone(late.pid);
    // Waits until this process has seen the exit too.
    await late.kill();
    assert.equal(late.process.signalCode, 'SIGTERM');
    record.close();
  });

  it('replaces an incomplete record, and says so', async () => {
    const dataDir = folder();
    writeFileSync(join(dataDir, 'run.json'), '{"supervisor": {"pi');
    const record = await open(dataDir);
    assert.match(reported.join('\n'), /run\.json cannot be read/);
    assert.deepEqual(contentOf(dataDir).children, []);
    record.close();
  });
});
