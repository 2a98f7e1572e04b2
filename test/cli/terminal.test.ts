// The command line prints texts from elsewhere safely.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { createTerminal, type Terminal } from '../../src/cli/terminal.ts';

/** What goes to stdout and stderr. */
function printed(print: (terminal: Terminal) => void, isTerminal = false): readonly [string, string] {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  print(createTerminal({ stdin, stdout: Object.assign(stdout, { isTTY: isTerminal }), stderr }, {}));
  return [String(stdout.read() ?? ''), String(stderr.read() ?? '')];
}

describe('the terminal of malipo', () => {
  const cases = [
    ['a mark that turns the direction', 'paid \u202e0051', 'paid \\u{202e}0051'],
    ['an isolate', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['an Arabic letter mark', 'x\u061cy', 'x\\u{61c}y'],
    ['a space without width', 'Du\u200bka', 'Du\\u{200b}ka'],
    ['an escape sequence', '\u001b[31mred\u001b[0m', '\\u{1b}[31mred\\u{1b}[0m'],
    ['a tag outside of the first plane', 'x\u{e0041}', 'x\\u{e0041}'],
    ['a carriage return, which would write over the line', 'paid\rnot', 'paid\\u{d}not'],
    ['ends of lines and tabs, which stay', 'a\n\tb', 'a\n\tb'],
  ] as const;
  for (const [title, text, shown] of cases) {
    it(`shows ${title}`, () => {
      assert.deepEqual(
        printed((terminal) => {
          terminal.print(text);
        }),
        [`${shown}\n`, ''],
      );
      assert.deepEqual(
        printed((terminal) => {
          terminal.say(text);
        }),
        ['', `${shown}\n`],
      );
    });

    it(`shows ${title} in JSON that a program reads unchanged`, () => {
      const [line] = printed((terminal) => {
        terminal.printJson({ text });
      });
      assert.match(line, /^[\x20-\x7e]+\n$/);
      assert.deepEqual(JSON.parse(line), { text });
    });
  }

  it('adds only its own colours, and none that a text contains', () => {
    const print = (terminal: Terminal) => {
      terminal.print('answer ', { colour: 'red', text: '\u001b[32m200' }, ' in 1 ms');
    };
    assert.deepEqual(printed(print, true), ['answer \u001b[31m\\u{1b}[32m200\u001b[0m in 1 ms\n', '']);
    assert.deepEqual(printed(print), ['answer \\u{1b}[32m200 in 1 ms\n', '']);
  });
});
