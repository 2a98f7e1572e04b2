// The failures of a command, with one exit code for each reaction that a script may need.

/** Documented in `malipo --help`. */
export const EXIT = { ok: 0, failed: 1, usage: 2, refused: 3, unreachable: 4, timedOut: 5, interrupted: 130 } as const;

type FailureCode = Exclude<keyof typeof EXIT, 'ok' | 'interrupted'>;

/** A failure that a person can resolve. The message names the fault and the remedy. */
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

/** The command line does not follow the help page. */
export function usage(message: string): CliFailure {
  return new CliFailure('usage', message);
}
