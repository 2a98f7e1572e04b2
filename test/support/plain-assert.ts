// Makes a failed `assert.ok` fail at once. Node words its message by looking for the call in the source file, by the line
// and column of the code that runs; of code that was transpiled those are others, and the search can go on for ever.
import assert from 'node:assert/strict';

function ok(value: unknown, message?: string | Error): asserts value {
  if (value) return;
  if (message instanceof Error) throw message;
  throw new assert.AssertionError({
    message: message ?? 'what was expected to hold does not',
    actual: value,
    expected: true,
    operator: '==',
    stackStartFn: ok,
  });
}

Object.assign(assert, { ok });
