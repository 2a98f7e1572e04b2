// Reads the JSON files of the data folder. An unreadable file is never replaced, but reported with its remedy.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Undefined if there is no such file. Throws one line with the file, its fault, and `remedy`. */
export function readJsonFile<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  remedy: string,
): z.infer<Schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: ${problemOf(error)}. ${remedy}`, { cause: error });
  }
}

function placeOf({ issues }: z.ZodError): string {
  const path = issues[0]?.path ?? [];
  return path.length > 0 ? `"${path.join('.')}"` : 'its beginning';
}

// Not the message of a syntax error, which shows a part of the file: it may be a secret.
function problemOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  if (error instanceof z.ZodError) return `what it should hold is not right at ${placeOf(error)}`;
  return error instanceof Error ? error.message : String(error);
}
