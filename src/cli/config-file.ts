// What the command line remembers from one run to the next: sessions and the secret of `listen`, for this user's eyes only.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CliFailure } from './failure.ts';

const sessionSchema = z.object({ email: z.string(), cookie: z.string(), origin: z.string() });

const placeSchema = z.object({
  /** Who logged in here last by `malipo login`. */
  current: z.string().nullable().default(null),
  /** By e-mail address. */
  sessions: z.record(z.string(), sessionSchema).default({}),
  /** By merchant: what `listen` signs with. */
  listenSecrets: z.record(z.string(), z.string()).default({}),
});

const configSchema = z.object({
  /** Where `malipo login` was last. */
  baseUrl: z.string().nullable().default(null),
  /** By base URL. */
  places: z.record(z.string(), placeSchema).default({}),
});

export type SavedPlace = z.infer<typeof placeSchema>;
type Saved = z.infer<typeof configSchema>;

export type ConfigFile = {
  readonly path: string;
  read(): Saved;
  /** Reads, changes and replaces the file in one step each; what another command wrote in between is lost at worst. */
  change(baseUrl: string, change: (place: SavedPlace, saved: Saved) => void): void;
  /** Without the session that somebody had there. */
  forget(baseUrl: string, email: string): void;
};

/** `$XDG_CONFIG_HOME/malipo/config.json`, or that under `~/.config`. */
export function openConfigFile(environment: Readonly<Record<string, string | undefined>>): ConfigFile {
  const chosen = environment['XDG_CONFIG_HOME'] ?? '';
  const path = join(chosen === '' ? join(homedir(), '.config') : chosen, 'malipo', 'config.json');
  const read = (): Saved => {
    if (!existsSync(path)) return configSchema.parse({});
    // It may have been copied about: whoever else could read it had the sessions, and has them no longer.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    const parsed = configSchema.safeParse(parseJson(readFileSync(path, 'utf8')));
    if (parsed.success) return parsed.data;
    throw new CliFailure('failed', `${path} cannot be understood. Remove it and log in again.`);
  };
  const change: ConfigFile['change'] = (baseUrl, changePlace) => {
    const saved = read();
    const place = (saved.places[baseUrl] ??= placeSchema.parse({}));
    changePlace(place, saved);
    writePrivately(path, `${JSON.stringify(saved, null, 2)}\n`);
  };
  return {
    path,
    read,
    change,
    forget(baseUrl, email) {
      change(baseUrl, (place) => {
        place.sessions = Object.fromEntries(Object.entries(place.sessions).filter(([key]) => key !== email));
      });
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function writePrivately(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}
