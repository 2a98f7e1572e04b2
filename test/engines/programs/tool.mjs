// A tool that runs the shell commands of its arguments one after the other, and prints how each ended.
import { runProgram } from '../../../tools/programs.mjs';

const [limitMs, graceMs, ...commands] = process.argv.slice(2);
for (const command of commands) {
  const limits = { limitMs: Number(limitMs), graceMs: Number(graceMs) };
  const { status, signal } = await runProgram('/bin/sh', ['-c', command], limits);
  console.log(`ended: ${signal ?? status}`);
}
