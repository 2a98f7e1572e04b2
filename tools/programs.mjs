// The programs of our tools, each in a separate process group that ends at its limit or with the tool.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** The time for a program to stop its own children, before its whole group is killed. */
const GRACE_MS = 120_000;
const AFTER_KILL_MS = 5000;
const LOOK_EVERY_MS = 50;

/** The running groups: the end of each, by the number of its first process. */
const groups = new Map();
let isEnding = false;

for (const signal of SIGNALS) process.on(signal, () => endAll(signal));
process.on('exit', () => {
  for (const pid of groups.keys()) signalGroup(pid, 'SIGKILL');
});

/**
 * Starts a program without input. After `limitMs` it is ended with its group: by SIGTERM, and by SIGKILL `graceMs`
 * later. `ended` resolves with its exit when the whole group is gone. After the end of the tool it never resolves, so
 * that nothing more begins.
 */
export function startProgram(command, args, { limitMs, graceMs = GRACE_MS, ...options }) {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options, detached: true });
  return { child, ended: untilEnded(child, limitMs, graceMs) };
}

/** Resolves as `ended` of `startProgram` does. */
export function runProgram(command, args, options) {
  return startProgram(command, args, options).ended;
}

/** Resolves to the exit and everything that the program printed, to either output. */
export async function runCollecting(command, args, options) {
  const { child, ended } = startProgram(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exit = await ended;
  return { ...exit, output };
}

async function untilEnded(child, limitMs, graceMs) {
  let ending;
  const end = () => (ending ??= endGroup(child.pid, graceMs));
  if (child.pid !== undefined) groups.set(child.pid, end);
  const timer = setTimeout(end, limitMs);
  const exit = await once(child, 'close').then(
    ([status, signal]) => ({ status, signal }),
    (error) => ({ status: null, signal: null, error }),
  );
  clearTimeout(timer);
  if (child.pid !== undefined) await end();
  groups.delete(child.pid);
  if (isEnding) await new Promise(() => undefined);
  return exit;
}

async function endGroup(pid, graceMs) {
  signalGroup(pid, 'SIGTERM');
  if (await isGoneWithin(pid, graceMs)) return;
  console.log(`process group ${pid} is killed: it has not ended ${graceMs / 1000} s after SIGTERM`);
  signalGroup(pid, 'SIGKILL');
  await isGoneWithin(pid, AFTER_KILL_MS);
}

async function isGoneWithin(pid, limitMs) {
  const deadline = performance.now() + limitMs;
  while (signalGroup(pid, 0)) {
    if (performance.now() > deadline) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}

/** Whether the group exists. */
function signalGroup(pid, signal) {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

async function endAll(signal) {
  // npm forwards a Ctrl-C that the terminal has already sent to all of us.
  if (isEnding) return;
  isEnding = true;
  console.log(`ended by ${signal}`);
  await Promise.all([...groups.values()].map((end) => end()));
  process.exit(128 + constants.signals[signal]);
}
