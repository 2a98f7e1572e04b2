// How a command ends when it does not end well: one exit code for each thing that a script would do about it.

/** Written down in `malipo --help`. */
export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3, unreachable: 4, timedOut: 5, interrupted: 130 } as const;

type FailureCode = Exclude<keyof typeof EXIT, 'ok' | 'interrupted'>;

/** Something a person can do something about. The message says what it is and what to do next. */
export class CliFailure extends Error {
  readonly kind: FailureCode;

  constructor(kind: FailureCode, message: string) {
    super(message);
    this.name = 'CliFailure';
    this.kind = kind;
  }

  get exitCode(): number {
    return EXIT[this.kind];
  }
}

/** The command line is not as the help page says. */
export function usage(message: string): CliFailure {
  return new CliFailure('usage', message);
}
