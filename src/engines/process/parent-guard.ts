// Ends programs that do not watch their parent, such as PostgreSQL, when the parent is gone: by a guard process.
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';

export type EndOfChild = {
  readonly signal: NodeJS.Signals;
  /** SIGKILL follows after this time. */
  readonly limitMs: number;
};

// It reads from a pipe whose other end only this process has. A line means that the child has ended; the end of the
// pipe without a line means that this process has, by whatever signal.
const GUARD = `
read -r line && exit
kill -s "$2" "$1" || exit
seconds=$3
while kill -0 "$1"; do
  [ "$seconds" -gt 0 ] || { kill -s KILL "$1"; exit; }
  seconds=$((seconds - 1))
  sleep 1
done`;

/** Ends the child if this process ends first, even by SIGKILL. A shell waits for that as long as the child runs. */
export function endWithThisProcess(child: ChildProcess, { signal, limitMs }: EndOfChild): void {
  if (child.pid === undefined) return;
  const args = [child.pid, signal.replace(/^SIG/, ''), Math.ceil(limitMs / 1000)].map(String);
  // Detached: a signal to the whole group of this process must not end the guard.
  const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', ...args], {
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without its guard the child runs too, but may outlive this process.
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  child.once('exit', () => guard.stdin.end('ended\n'));
  guard.unref();
  // Otherwise the pipe to it, which is a socket in Node, would keep this process alive.
  if (guard.stdin instanceof Socket) guard.stdin.unref();
}
