// The types of arguments.mjs.
import type { parseArgs, ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

export function readArguments<const Given extends Options = Record<never, never>>(program: {
  readonly usage: string;
  readonly options?: Given;
  /** The least and the most of them; none by default. */
  readonly positionals?: readonly [least: number, most: number];
}): {
  readonly values: ReturnType<typeof parseArgs<{ options: Given }>>['values'];
  readonly positionals: readonly string[];
};

export function endWithUsage(problem: string, usage: string): never;
