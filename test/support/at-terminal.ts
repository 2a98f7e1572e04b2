// Runs a command at a terminal of its own, as a person does who answers its questions.
import { spawn, spawnSync } from 'node:child_process';

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

/** Whether there is a python3, which makes the terminal. */
export function hasTerminals(): boolean {
  return spawnSync('python3', ['--version']).error === undefined;
}

export type Dialogue = {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Each is for the question that contains its text, in this order. */
  readonly answers: readonly (readonly [question: string, answer: string])[];
};

/** Asynchronous, because the service that the command calls may run in this process. */
export function runAtTerminal({ command, env, answers }: Dialogue) {
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
