// Makes a failed `assert.ok` fail at once. To word the message, Node searches the source file for the call by the line
// and column of the running code; transpiled code has other positions, and the search may never end.
import assert from 'node:assert/strict';

function ok(value: unknown, message?: string | Error): asserts value {
  if (value) return;
  if (message instanceof Error) throw message;
  throw new assert.AssertionError({
    message: message ?? 'the expected condition does not hold',
    actual: value,
    expected: true,
    operator: '==',
    stackStartFn: ok,
  });
}

Object.assign(assert, { ok });
