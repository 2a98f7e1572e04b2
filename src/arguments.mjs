// Reads the arguments of every program of ours. JavaScript, because tools that run before the packages are installed read theirs here, too.
import { parseArgs } from 'node:util';

/**
 * The options and positional arguments. `--help` prints the usage and ends the process with 0; an argument that the usage does not name
 * is answered with the usage and ends it with 2, before anything is done.
 */
export function readArguments({ usage, options = {}, positionals: [least, most] = [0, 0] }) {
  const help = { type: 'boolean', short: 'h' };
  let read;
  try {
    read = parseArgs({ options: { ...options, help }, allowPositionals: true });
  } catch (error) {
    // What follows the first sentence is how to write such a text as a positional argument.
    endWithUsage(error.message.split('. ')[0], usage);
  }
  const { values, positionals } = read;
  if (values.help === true) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  if (positionals.length > most) endWithUsage(`Unexpected argument '${positionals[most]}'`, usage);
  if (positionals.length < least) endWithUsage('An argument is missing', usage);
  return { values, positionals };
}

/** Ends the process as one whose arguments are not as its usage says. */
export function endWithUsage(problem, usage) {
  process.stderr.write(`${problem}\n${usage}\n`);
  process.exit(2);
}
