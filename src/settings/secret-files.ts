// Secret settings from files, as vaults and containers provide them: `NAME_FILE` instead of `NAME`.
import { readFileSync } from 'node:fs';

type Environment = Readonly<Record<string, string | undefined>>;

export type ResolvedSecrets = {
  /** The environment with the content of the files under the names of the settings. */
  readonly environment: Environment;
  /** A line for each unusable file, by the name of its setting. */
  readonly problems: ReadonlyMap<string, string>;
};

export function fileSetting(name: string): string {
  return `${name}_FILE`;
}

/** Reads the files of these settings. No problem shows the value of a setting, which may be the secret itself. */
export function readSecretFiles(environment: Environment, names: readonly string[]): ResolvedSecrets {
  const resolved: Record<string, string | undefined> = { ...environment };
  const problems = new Map<string, string>();
  for (const name of names) {
    const setting = fileSetting(name);
    const path = environment[setting];
    if (path === undefined) continue;
    if (environment[name] !== undefined) {
      problems.set(name, `${setting}: ${name} is set as well`);
      continue;
    }
    const content = readSecret(path);
    if ('problem' in content) problems.set(name, `${setting}: ${content.problem}`);
    else resolved[name] = content.text;
  }
  return { environment: resolved, problems };
}

function readSecret(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    // Editors and `echo` end a file with a line break, which is not part of the secret.
    const text = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
    return text === '' ? { problem: 'the file is empty' } : { text };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { problem: `the file cannot be read (${code})` };
  }
}
